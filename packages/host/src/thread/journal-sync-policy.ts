import type { Durability } from "../core/record-table.ts";
import { type Commit, definitionOf } from "../core/records.ts";

/** When journals are fsynced: before the effects of important records (`turns`), after every commit, or never. */
export type SyncPolicy = "turns" | "always" | "never";

/** The durability that a commit needs before its effects are visible. `wantsSync`: the caller wants an fsync. */
export function durabilityOf(policy: SyncPolicy, { records }: Commit, wantsSync: boolean): Durability {
  if (policy !== "turns") return policy === "always" ? "synced" : "written";
  const isSynced = wantsSync || records.some((record) => definitionOf(record).durability === "synced");
  return isSynced ? "synced" : "written";
}
