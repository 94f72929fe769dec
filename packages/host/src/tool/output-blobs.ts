import { createHash } from "node:crypto";
import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import { type Blobs, blobReference } from "../core/turn/blobs.ts";
import { dataUrl, invalidMediaNote, mediaOf } from "./media.ts";

/** Shorter media stays in the journal. */
const MIN_CHARACTERS = 32 * 1024;

type StoreBlob = (name: string, bytes: Uint8Array) => Promise<void>;
type Kind = "image" | "audio";

/** The outcome of a tool call: the output for the model, and the MCP content for clients. */
export interface ToolOutcome {
  readonly output: FunctionCallOutputBody;
  readonly content: readonly unknown[];
}

/**
 * Stores large images, sounds and other binary data of an outcome as blobs. Returns the outcome with references to the
 * blobs in place of the data, or undefined if the outcome has no such data. In the output for the model, a note
 * replaces an image or sound that no model can read.
 */
export async function keepOutcome(
  { output, content }: ToolOutcome,
  write: StoreBlob,
): Promise<(ToolOutcome & { readonly blobs: Blobs }) | undefined> {
  const writer = new BlobWriter(write);
  const smaller = {
    output: typeof output === "string" ? output : await inOrder(output, (part) => withoutMedia(part, writer)),
    content: await inOrder(content, (block) => withoutData(block, writer)),
  };
  return writer.blobs === undefined ? undefined : { ...smaller, blobs: writer.blobs };
}

/** Inserts the blobs into an output again. A note replaces a missing blob. */
export async function restoredOutput(
  { output, blobs }: { readonly output: FunctionCallOutputBody; readonly blobs: Blobs },
  blob: (name: string) => Promise<Uint8Array | undefined>,
): Promise<FunctionCallOutputBody> {
  if (typeof output === "string") return output;
  return Promise.all(
    output.map(async (part): Promise<FunctionCallOutputContentItem> => {
      const media = mediaIn(part);
      if (media === undefined || !Object.hasOwn(blobs, media.url)) return part;
      const bytes = await blob(blobs[media.url]!);
      const read = bytes && mediaOf(bytes, media.kind);
      if (read !== undefined && !("problem" in read)) return media.with(dataUrl(read));
      return { type: "input_text", text: `(${NAMES[media.kind]} that was here is not there any more)` };
    }),
  );
}

const NAMES = { image: "an image", audio: "a sound" } as const;

/** Handles the parts one after the other, so that not all large parts are in memory twice at the same time. */
async function inOrder<T>(parts: readonly T[], smaller: (part: T) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (const part of parts) all.push(await smaller(part));
  return all;
}

async function withoutMedia(
  part: FunctionCallOutputContentItem,
  writer: BlobWriter,
): Promise<FunctionCallOutputContentItem> {
  const media = mediaIn(part);
  if (media === undefined || media.url.length < MIN_CHARACTERS) return part;
  const payload = /^data:[^,]{0,200};base64,/i.exec(media.url);
  if (payload === null) return part;
  const read = mediaOf(Buffer.from(media.url.slice(payload[0].length), "base64"), media.kind);
  // No model can use invalid media, so only the content for clients keeps it.
  if ("problem" in read) return writer.withNote(invalidMediaNote(media.kind, read.problem));
  return media.with(await writer.write(read.bytes, read.type.split("/")[1]!));
}

/** Stores the data of a block of MCP content as a blob: `data` of an image or sound, `blob` of a resource. */
async function withoutData(block: unknown, writer: BlobWriter): Promise<unknown> {
  const { type, data, mimeType, resource } = Object(block) as Record<string, unknown>;
  if (type === "image" || type === "audio") {
    const reference = await writer.writeBase64(data, extensionOf(mimeType));
    return reference === undefined ? block : { ...(block as object), data: reference };
  }
  if (type !== "resource") return block;
  const { blob, mimeType: of } = Object(resource) as Record<string, unknown>;
  const resourceReference = await writer.writeBase64(blob, extensionOf(of));
  return resourceReference === undefined
    ? block
    : { ...(block as object), resource: { ...(resource as object), blob: resourceReference } };
}

function extensionOf(type: unknown): string {
  const [, extension = "bin"] = /^(?:image|audio)\/([a-z0-9]{1,8})$/.exec(String(type)) ?? [];
  return extension;
}

class BlobWriter {
  readonly #store: StoreBlob;
  blobs: Record<string, string> | undefined;

  constructor(write: StoreBlob) {
    this.#store = write;
  }

  /** The part that replaces invalid media. */
  withNote(text: string): FunctionCallOutputContentItem {
    this.blobs ??= {};
    return { type: "input_text", text };
  }

  /** Stores a blob, and returns the reference to it. */
  async write(bytes: Uint8Array, extension: string): Promise<string> {
    const name = `${createHash("sha256").update(bytes).digest("hex")}.${extension}`;
    await this.#store(name, bytes);
    this.blobs ??= {};
    this.blobs[blobReference(name)] = name;
    return blobReference(name);
  }

  /**
   * Stores base64 text as a blob; undefined if the text is short, or if encoding the bytes again would give another
   * text.
   */
  async writeBase64(text: unknown, extension: string): Promise<string | undefined> {
    if (typeof text !== "string" || text.length < MIN_CHARACTERS) return undefined;
    const bytes = Buffer.from(text, "base64");
    return bytes.toString("base64") === text ? this.write(bytes, extension) : undefined;
  }
}

interface PartMedia {
  readonly kind: Kind;
  readonly url: string;
  with(url: string): FunctionCallOutputContentItem;
}

function mediaIn(part: FunctionCallOutputContentItem): PartMedia | undefined {
  if (part.type === "input_image" && typeof part.image_url === "string")
    return {
      kind: "image",
      url: part.image_url,
      with: (image_url) => ({ ...part, image_url }) as FunctionCallOutputContentItem,
    };
  if (part.type === "input_audio" && typeof part.audio_url === "string")
    return {
      kind: "audio",
      url: part.audio_url,
      with: (audio_url) => ({ ...part, audio_url }) as FunctionCallOutputContentItem,
    };
  return undefined;
}
