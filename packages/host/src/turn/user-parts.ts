import { resolve } from "node:path";
import type { UserInput } from "@bobbin/protocol";
import type { ContextPart } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";

/** A larger picture is refused by every provider. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** What a user said, with the pictures that are files read in. What can not be shown is said in words. */
export async function userParts(
  content: readonly UserInput[],
  cwd: string,
  files: Pick<Files, "openRead">,
): Promise<readonly ContextPart[]> {
  return Promise.all(content.map((part) => partOf(part, cwd, files)));
}

async function partOf(part: UserInput, cwd: string, files: Pick<Files, "openRead">): Promise<ContextPart> {
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
      const read = await readImage(path, files).catch((cause) => String((cause as Error).message));
      if (typeof read === "string") return note(`image ${path} could not be read: ${read}`);
      return { type: "image", url: read.url, detail: part.detail ?? null };
    }
    case "audio":
    case "localAudio":
      return note("audio, which this model can not be given");
    case "skill":
    case "mention":
      return { type: "text", text: `[${part.name}](${part.path})` };
  }
}

function note(text: string): ContextPart {
  return { type: "text", text: `(${text})` };
}

/** As a data URL, or why not. */
async function readImage(path: string, files: Pick<Files, "openRead">): Promise<{ url: string } | string> {
  const file = await files.openRead(path);
  if (file === undefined) return "there is no such file";
  try {
    const size = await file.size();
    if (size > MAX_IMAGE_BYTES) return `it is larger than ${MAX_IMAGE_BYTES} bytes`;
    const bytes = Buffer.from(await file.read(0, size));
    const type = imageType(bytes);
    return type === undefined
      ? "it is no PNG, JPEG, GIF or WebP"
      : { url: `data:${type};base64,${bytes.toString("base64")}` };
  } finally {
    await file.close();
  }
}

function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF8")) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
