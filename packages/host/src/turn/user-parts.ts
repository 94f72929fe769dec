import { resolve } from "node:path";
import type { UserInput } from "@bobbin/protocol";
import type { ContextPart } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";
import { readMedia } from "../tool/media.ts";

/** More of a skill than this is not instructions any more. */
const MAX_SKILL_CHARACTERS = 256 * 1024;

type InputFiles = Pick<Files, "openRead" | "readText">;

/** What a user said, with what stands in files read in. What can not be shown is said in words. */
export async function userParts(
  content: readonly UserInput[],
  cwd: string,
  files: InputFiles,
): Promise<readonly ContextPart[]> {
  return Promise.all(content.map((part) => partOf(part, cwd, files)));
}

async function partOf(part: UserInput, cwd: string, files: InputFiles): Promise<ContextPart> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      if ("url" in part && part.url !== undefined) {
        return { type: "image", url: part.url, detail: part.detail ?? null };
      }
      return note("an uploaded image, which is not supported");
    case "localImage": {
      const path = resolve(cwd, part.path);
      const read = await readMedia(path, "image", files);
      if ("problem" in read) return note(`image ${path} could not be read: ${read.problem}`);
      return { type: "image", url: read.url, detail: part.detail ?? null };
    }
    case "audio":
      return { type: "audio", url: part.url };
    case "localAudio": {
      const path = resolve(cwd, part.path);
      const read = await readMedia(path, "audio", files);
      return "problem" in read
        ? note(`audio ${path} could not be read: ${read.problem}`)
        : { type: "audio", url: read.url };
    }
    case "skill":
      return skill(part.name, resolve(cwd, part.path), files);
    case "mention":
      return { type: "text", text: `[${part.name}](${part.path})` };
  }
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
