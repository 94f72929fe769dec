import { resolve } from "node:path";
import type { ImageDetail, UserInput } from "@bobbin/protocol";
import type { Blobs } from "../core/turn/blobs.ts";
import type { ContextPart } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";
import { dataUrl, mediaOf, readMedia } from "../tool/media.ts";

/** More of a skill than this is not instructions any more. */
const MAX_SKILL_CHARACTERS = 256 * 1024;

/** Where what a user names is found. */
export interface InputSources {
  readonly cwd: string;
  readonly files: Pick<Files, "openRead" | "readText">;
  /** What the thread has kept of its users' files. */
  blob(name: string): Promise<Uint8Array | undefined>;
}

/** What a user said, with what stands in files read in. What can not be shown is said in words. */
export function userParts(
  content: readonly UserInput[],
  blobs: Blobs | undefined,
  sources: InputSources,
): readonly ContextPart[] | Promise<readonly ContextPart[]> {
  const parts = content.map((part) => partOf(part, blobs, sources));
  return parts.every(isThere) ? parts : Promise.all(parts.map((part) => Promise.resolve(part)));
}

function isThere(part: ContextPart | Promise<ContextPart>): part is ContextPart {
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
      return { type: "audio", url: part.url };
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

/** What was kept when it was said, else the file as it is now. */
async function media(
  path: string,
  kind: "image" | "audio",
  blobs: Blobs | undefined,
  { cwd, files, blob }: InputSources,
): Promise<{ readonly url: string } | { readonly problem: string }> {
  const name = blobs !== undefined && Object.hasOwn(blobs, path) ? blobs[path] : undefined;
  const bytes = name === undefined ? undefined : await blob(name);
  const kept = bytes === undefined ? undefined : mediaOf(bytes, kind);
  if (kept !== undefined && !("problem" in kept)) return { url: dataUrl(kept) };
  return readMedia(resolve(cwd, path), kind, files);
}

/** The instructions themselves: a model that only hears of them may not look. */
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
