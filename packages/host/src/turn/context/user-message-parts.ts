import { resolve } from "node:path";
import type { ImageDetail, UserInput } from "@bobbin/protocol";
import type { Blobs } from "../../core/turn/blobs.ts";
import type { ContextPart } from "../../model/model.ts";
import type { Files } from "../../platform/platform.ts";
import { dataUrl, mediaOf, readMedia } from "../../tool/media.ts";

/** Limit on the characters of a skill file that the model is shown. */
const MAX_SKILL_CHARACTERS = 256 * 1024;

/** Access to the files that a user's message names. */
export interface InputSources {
  readonly cwd: string;
  readonly files: Pick<Files, "openRead" | "readText">;
  /** Reads a blob: the copy of a file that was made when the message was sent. */
  blob(name: string): Promise<Uint8Array | undefined>;
}

/** The parts of a user message for the model, with the contents of named files. A note replaces an unreadable file. */
export function userMessageParts(
  content: readonly UserInput[],
  blobs: Blobs | undefined,
  sources: InputSources,
): readonly ContextPart[] | Promise<readonly ContextPart[]> {
  const parts = content.map((part) => partOf(part, blobs, sources));
  return parts.every(isReady) ? parts : Promise.all(parts.map((part) => Promise.resolve(part)));
}

function isReady(part: ContextPart | Promise<ContextPart>): part is ContextPart {
  return !(part instanceof Promise);
}

function partOf(
  part: UserInput,
  blobs: Blobs | undefined,
  sources: InputSources,
): ContextPart | Promise<ContextPart> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      if ("url" in part && part.url !== undefined) {
        return { type: "image", url: part.url, detail: part.detail ?? null };
      }
      return note("an uploaded image, which is not supported");
    case "localImage":
      return image(part.path, part.detail ?? null, blobs, sources);
    case "audio":
      if ("url" in part && part.url !== undefined) return { type: "audio", url: part.url };
      return note("an uploaded recording, which is not supported");
    case "localAudio":
      return audio(part.path, blobs, sources);
    case "skill":
      return skill(part.name, resolve(sources.cwd, part.path), sources.files);
    case "mention":
      return { type: "text", text: `[${part.name}](${part.path})` };
  }
}

async function image(
  path: string,
  detail: ImageDetail | null,
  blobs: Blobs | undefined,
  sources: InputSources,
): Promise<ContextPart> {
  const read = await media(path, "image", blobs, sources);
  if ("problem" in read) return note(`image ${path} could not be read: ${read.problem}`);
  return { type: "image", url: read.url, detail };
}

async function audio(path: string, blobs: Blobs | undefined, sources: InputSources): Promise<ContextPart> {
  const read = await media(path, "audio", blobs, sources);
  return "problem" in read
    ? note(`audio ${path} could not be read: ${read.problem}`)
    : { type: "audio", url: read.url };
}

/** The blob of the file if there is one, else the current content of the file. */
async function media(
  path: string,
  kind: "image" | "audio",
  blobs: Blobs | undefined,
  { cwd, files, blob }: InputSources,
): Promise<{ readonly url: string } | { readonly problem: string }> {
  const name = blobs !== undefined && Object.hasOwn(blobs, path) ? blobs[path] : undefined;
  const bytes = name === undefined ? undefined : await blob(name);
  const stored = bytes === undefined ? undefined : mediaOf(bytes, kind);
  if (stored !== undefined && !("problem" in stored)) return { url: dataUrl(stored) };
  return readMedia(resolve(cwd, path), kind, files);
}

/** The text of a skill. Included in full, because a model may not open a file that is only named. */
async function skill(name: string, path: string, files: InputSources["files"]): Promise<ContextPart> {
  const text = await files.readText(path).catch((cause: Error) => cause);
  if (typeof text !== "string") {
    return note(`skill ${name} at ${path} could not be read: ${text?.message ?? "there is no such file"}`);
  }
  const body = text.slice(0, MAX_SKILL_CHARACTERS).trim();
  return { type: "text", text: `<skill>\n<name>${name}</name>\n<path>${path}</path>\n${body}\n</skill>` };
}

function note(text: string): ContextPart {
  return { type: "text", text: `(${text})` };
}
