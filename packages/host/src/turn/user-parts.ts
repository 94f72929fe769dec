import { resolve } from "node:path";
import type { ImageDetail, UserInput } from "@bobbin/protocol";
import type { ContextPart } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";
import { readMedia } from "../tool/media.ts";

/** More of a skill than this is not instructions any more. */
const MAX_SKILL_CHARACTERS = 256 * 1024;

type InputFiles = Pick<Files, "openRead" | "readText">;

/** What a user said, with what stands in files read in. What can not be shown is said in words. */
export function userParts(
  content: readonly UserInput[],
  cwd: string,
  files: InputFiles,
): readonly ContextPart[] | Promise<readonly ContextPart[]> {
  const parts = content.map((part) => partOf(part, cwd, files));
  return parts.every(isThere) ? parts : Promise.all(parts.map((part) => Promise.resolve(part)));
}

function isThere(part: ContextPart | Promise<ContextPart>): part is ContextPart {
  return !(part instanceof Promise);
}

function partOf(part: UserInput, cwd: string, files: InputFiles): ContextPart | Promise<ContextPart> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      if ("url" in part && part.url !== undefined) {
        return { type: "image", url: part.url, detail: part.detail ?? null };
      }
      return note("an uploaded image, which is not supported");
    case "localImage":
      return image(resolve(cwd, part.path), part.detail ?? null, files);
    case "audio":
      return { type: "audio", url: part.url };
    case "localAudio":
      return audio(resolve(cwd, part.path), files);
    case "skill":
      return skill(part.name, resolve(cwd, part.path), files);
    case "mention":
      return { type: "text", text: `[${part.name}](${part.path})` };
  }
}

async function image(path: string, detail: ImageDetail | null, files: InputFiles): Promise<ContextPart> {
  const read = await readMedia(path, "image", files);
  if ("problem" in read) return note(`image ${path} could not be read: ${read.problem}`);
  return { type: "image", url: read.url, detail };
}

async function audio(path: string, files: InputFiles): Promise<ContextPart> {
  const read = await readMedia(path, "audio", files);
  return "problem" in read
    ? note(`audio ${path} could not be read: ${read.problem}`)
    : { type: "audio", url: read.url };
}

/** The instructions themselves: a model that only hears of them may not look. */
async function skill(name: string, path: string, files: InputFiles): Promise<ContextPart> {
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
