import type { Commit, ThreadRecord } from "../core/records.ts";

/** When journals are synced: before what matters is told, after every commit, or never. */
export type SyncPolicy = "turns" | "always" | "never";

/** What is not told before it survives a power cut, unless configured otherwise. */
const SYNCED: ReadonlySet<string> = new Set<ThreadRecord["type"]>(["turnEnded", "closed", "requestResolved"]);

/** `asked`: whoever caused it wants it so. */
export function mustSync(policy: SyncPolicy, { records }: Commit, asked: boolean): boolean {
  if (policy !== "turns") return policy === "always";
  return asked || records.some(({ type }) => SYNCED.has(type));
}
