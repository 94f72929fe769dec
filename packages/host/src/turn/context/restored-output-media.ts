import type { ThreadRecord } from "../../core/records.ts";
import { restoredOutput } from "../../tool/output-blobs.ts";

/** The history with the media of tool outputs inserted again. The journal has blobs in their place. */
export async function withRestoredOutputMedia(
  history: readonly ThreadRecord[],
  blob: (name: string) => Promise<Uint8Array | undefined>,
): Promise<readonly ThreadRecord[]> {
  if (!history.some((record) => blobOutputOf(record) !== undefined)) return history;
  return Promise.all(
    history.map(async (record): Promise<ThreadRecord> => {
      const stored = blobOutputOf(record);
      if (stored === undefined) return record;
      const output = await restoredOutput(stored, blob);
      if (record.type === "eventInjected") return { ...record, event: { ...record.event, output } };
      return { ...record, output } as ThreadRecord;
    }),
  );
}

/** The output of a record, if parts of it are stored as blobs. */
function blobOutputOf(record: ThreadRecord): Parameters<typeof restoredOutput>[0] | undefined {
  if (record.type !== "toolAnswered" && record.type !== "eventInjected") return undefined;
  const { output, blobs } = record.type === "eventInjected" ? record.event : record;
  return blobs === undefined ? undefined : { output, blobs };
}
