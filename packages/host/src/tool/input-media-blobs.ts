import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { UserInput } from "@bobbin/protocol";
import type { Blobs } from "../core/turn/blobs.ts";
import type { Files } from "../platform/platform.ts";
import { readMediaFile } from "./media.ts";

/**
 * Copies image and audio files that the user's input names to blobs, so that later changes of the files do not change
 * the model's context. Unusable files are skipped; in their place, the model gets the reason why they are unusable.
 */
export async function keepMedia(
  input: readonly UserInput[],
  cwd: string,
  files: Pick<Files, "openRead">,
  store: (name: string, bytes: Uint8Array) => Promise<void>,
): Promise<Blobs | undefined> {
  const stored: [string, string][] = [];
  for (const part of input) {
    if (part.type !== "localImage" && part.type !== "localAudio") continue;
    const kind = part.type === "localImage" ? "image" : "audio";
    const read = await readMediaFile(resolve(cwd, part.path), kind, files);
    if ("problem" in read) continue;
    const name = `${createHash("sha256").update(read.bytes).digest("hex")}.${read.type.split("/")[1]}`;
    await store(name, read.bytes);
    stored.push([part.path, name]);
  }
  return stored.length === 0 ? undefined : Object.fromEntries(stored);
}

/** Whether the input names any file. Most inputs name none, and then nothing has to be done. */
export function namesMedia(input: readonly UserInput[]): boolean {
  return input.some(({ type }) => type === "localImage" || type === "localAudio");
}
