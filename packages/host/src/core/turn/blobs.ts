import type { ThreadRecord } from "../records.ts";

/**
 * Names of blobs, which store content that is too large for a record. The keys are file paths for a user message, and
 * blob references for a tool's output or item.
 */
export type Blobs = Readonly<Record<string, string>>;

const BLOB_REFERENCE = /^kept:([0-9a-f]{64}\.[a-z0-9]{1,8})$/;

/**
 * The reference that replaces large content in an item or output. It is not valid base64, so that it cannot be taken
 * for content.
 */
export function blobReference(name: string): string {
  return `kept:${name}`;
}

/** The blob name in a reference; undefined for any other text. */
export function blobNameOf(text: string): string | undefined {
  return text.length > 100 ? undefined : BLOB_REFERENCE.exec(text)?.[1];
}

/** The names of the blobs that a record refers to. */
export function blobsOf(record: ThreadRecord): readonly string[] {
  switch (record.type) {
    case "itemCompleted":
    case "toolAnswered":
      return Object.values(record.blobs ?? {});
    case "eventInjected":
      return Object.values(record.event.blobs ?? {});
    case "compacted":
      return record.kept.flatMap((retained) =>
        retained.kind === "user" ? Object.values(retained.blobs ?? {}) : [],
      );
    default:
      return [];
  }
}
