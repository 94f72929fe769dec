import type { ThreadRecord } from "../records.ts";

/** Where the content of files that a message names is kept: the path as it was given, and what it is kept under. */
export type Blobs = Readonly<Record<string, string>>;

/** What a record needs to be there besides itself. */
export function blobsOf(record: ThreadRecord): readonly string[] {
  switch (record.type) {
    case "itemCompleted":
      return Object.values(record.blobs ?? {});
    case "compacted":
      return record.kept.flatMap((kept) => (kept.kind === "user" ? Object.values(kept.blobs ?? {}) : []));
    default:
      return [];
  }
}
