import type { AppendFile, Files } from "../platform/platform.ts";

/** One file of a report. */
export interface Attachment {
  readonly name: string;
  readonly type: "text/plain" | "application/json" | "application/octet-stream";
  readonly content: string;
}

/** The content of report.json. */
export type ReportFacts = Readonly<Record<string, unknown>>;

/**
 * Writes a report as a new ZIP file: report.json, each attachment in a folder of its own, and manifest.json, which
 * lists them. A file that could not be completed is removed.
 */
export async function writeReport(
  files: Pick<Files, "openAppend" | "remove">,
  path: string,
  facts: ReportFacts,
  attachments: readonly Attachment[],
): Promise<void> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const manifest = attachments.map(({ name, type }, nth) => ({
    entry: `attachments/${String(nth).padStart(4, "0")}/${name}`,
    filename: name,
    contentType: type,
  }));
  const add = (name: string, content: string): void => zip.addBuffer(Buffer.from(content, "utf8"), name);
  add("report.json", `${JSON.stringify(facts, null, 2)}\n`);
  for (const [nth, { content }] of attachments.entries()) add(manifest[nth]!.entry, content);
  add("manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  zip.end();
  const file = await files.openAppend(path, { fresh: true });
  try {
    await writeAll(file, zip.outputStream as unknown as AsyncIterable<Uint8Array>);
  } catch (cause) {
    await file.close();
    await files.remove(path);
    throw cause;
  }
  await file.close();
}

async function writeAll(file: AppendFile, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) await file.append(piece);
  await file.sync();
}
