import type { ThreadRecord } from "../records.ts";

/**
 * Where is kept what is too large for a record: for a message the path of a file as it was given, for a tool's output what
 * stands for a picture, and the name under which its content is.
 */
export type Blobs = Readonly<Record<string, string>>;

/** What a record needs to be there besides itself. */
export function blobsOf(record: ThreadRecord): readonly string[] {
  switch (record.type) {
    case "itemCompleted":
    case "toolAnswered":
      return Object.values(record.blobs ?? {});
    case "compacted":
      return record.kept.flatMap((kept) => (kept.kind === "user" ? Object.values(kept.blobs ?? {}) : []));
    default:
      return [];
  }
}
