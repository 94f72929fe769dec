import type { ThreadRecord } from "../core/records.ts";
import { restoredOutput } from "../tool/kept-output.ts";

/** The past with what tools showed, where that is kept beside the journal. */
export async function withKeptOutputs(
  past: readonly ThreadRecord[],
  blob: (name: string) => Promise<Uint8Array | undefined>,
): Promise<readonly ThreadRecord[]> {
  if (!past.some((record) => record.type === "toolAnswered" && record.blobs !== undefined)) return past;
  return Promise.all(
    past.map(async (record): Promise<ThreadRecord> => {
      if (record.type !== "toolAnswered" || record.blobs === undefined) return record;
      const { output, blobs } = record;
      return { ...record, output: await restoredOutput({ output, blobs }, blob) };
    }),
  );
}
