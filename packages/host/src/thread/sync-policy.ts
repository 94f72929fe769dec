import { type Commit, entryOf } from "../core/records.ts";

/** When journals are synced: before what matters is told, after every commit, or never. */
export type SyncPolicy = "turns" | "always" | "never";

/** Whether a commit has to survive a power cut before its effects are visible. `asked`: whoever caused it wants it so. */
export function mustSync(policy: SyncPolicy, { records }: Commit, asked: boolean): boolean {
  if (policy !== "turns") return policy === "always";
  return asked || records.some((record) => entryOf(record).durability === "synced");
}
