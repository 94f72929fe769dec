import { createHash } from "node:crypto";
import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { Blobs } from "../core/turn/blobs.ts";
import { dataUrl, mediaOf } from "./media.ts";

/** A smaller one is as well off in the journal. */
const MIN_CHARACTERS = 32 * 1024;

interface KeptOutput {
  /** With the names of what is kept in place of it. */
  readonly output: FunctionCallOutputBody;
  readonly blobs: Blobs;
}

/** Keeps large pictures of what a tool came to; undefined if there is none. */
export async function keepOutput(
  output: FunctionCallOutputBody,
  keep: (name: string, bytes: Uint8Array) => Promise<void>,
): Promise<KeptOutput | undefined> {
  if (typeof output === "string") return undefined;
  const blobs: Record<string, string> = {};
  const parts: FunctionCallOutputContentItem[] = [];
  for (const part of output) {
    const picture = largePicture(part);
    if (picture === undefined) {
      parts.push(part);
      continue;
    }
    const name = `${createHash("sha256").update(picture.bytes).digest("hex")}.${picture.type.split("/")[1]}`;
    await keep(name, picture.bytes);
    const url = `kept:${name}`;
    blobs[url] = name;
    parts.push(withUrl(part, url));
  }
  return Object.keys(blobs).length === 0 ? undefined : { output: parts, blobs };
}

/** The output as it was. What is not there any more is said in words. */
export async function restoredOutput(
  { output, blobs }: KeptOutput,
  blob: (name: string) => Promise<Uint8Array | undefined>,
): Promise<FunctionCallOutputBody> {
  if (typeof output === "string") return output;
  return Promise.all(
    output.map(async (part): Promise<FunctionCallOutputContentItem> => {
      const url = urlOf(part);
      if (url === undefined || !Object.hasOwn(blobs, url)) return part;
      const bytes = await blob(blobs[url]!);
      const read = bytes && mediaOf(bytes, "image");
      if (read !== undefined && !("problem" in read)) return withUrl(part, dataUrl(read));
      return { type: "input_text", text: "(an image that was here is not there any more)" };
    }),
  );
}

function largePicture(part: FunctionCallOutputContentItem) {
  const url = urlOf(part);
  if (url === undefined || url.length < MIN_CHARACTERS) return undefined;
  const payload = /^data:[^,]*;base64,/i.exec(url);
  if (payload === null) return undefined;
  const read = mediaOf(Buffer.from(url.slice(payload[0].length), "base64"), "image");
  return "problem" in read ? undefined : read;
}

function urlOf(part: FunctionCallOutputContentItem): string | undefined {
  return part.type === "input_image" && typeof part.image_url === "string" ? part.image_url : undefined;
}

function withUrl(part: FunctionCallOutputContentItem, url: string): FunctionCallOutputContentItem {
  return { ...part, image_url: url } as FunctionCallOutputContentItem;
}
