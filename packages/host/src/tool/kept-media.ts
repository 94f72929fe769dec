import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { UserInput } from "@bobbin/protocol";
import type { Blobs } from "../core/turn/blobs.ts";
import type { Files } from "../platform/platform.ts";
import { readMediaFile } from "./media.ts";

/**
 * Keeps pictures and sounds that input names as files: what the model was shown stays what it was when they change or
 * go. Those that can not be shown are not kept; why not is said when they are to be shown.
 */
export async function keepMedia(
  input: readonly UserInput[],
  cwd: string,
  files: Pick<Files, "openRead">,
  keep: (name: string, bytes: Uint8Array) => Promise<void>,
): Promise<Blobs | undefined> {
  const kept: [string, string][] = [];
  for (const part of input) {
    if (part.type !== "localImage" && part.type !== "localAudio") continue;
    const kind = part.type === "localImage" ? "image" : "audio";
    const read = await readMediaFile(resolve(cwd, part.path), kind, files);
    if ("problem" in read) continue;
    const name = `${createHash("sha256").update(read.bytes).digest("hex")}.${read.type.split("/")[1]}`;
    await keep(name, read.bytes);
    kept.push([part.path, name]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Whether anything in it could be kept: most has nothing, and costs nothing. */
export function namesMedia(input: readonly UserInput[]): boolean {
  return input.some(({ type }) => type === "localImage" || type === "localAudio");
}
