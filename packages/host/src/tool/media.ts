import type { Files } from "../platform/platform.ts";

/** Limit on the bytes of an image or sound. Every provider refuses larger ones. */
const MAX_BYTES = 20 * 1024 * 1024;

type Kind = "image" | "audio";

/** The first bytes of files of each type, as latin1; a dot matches any byte. */
const SIGNATURES: { readonly [K in Kind]: readonly (readonly [string, string])[] } = {
  image: [
    ["\x89PNG", "image/png"],
    ["\xff\xd8\xff", "image/jpeg"],
    ["GIF8", "image/gif"],
    ["RIFF....WEBP", "image/webp"],
  ],
  audio: [
    ["RIFF....WAVE", "audio/wav"],
    ["ID3", "audio/mp3"],
    ["\xff\xfb", "audio/mp3"],
    ["\xff\xf3", "audio/mp3"],
    ["\xff\xf2", "audio/mp3"],
    ["....ftyp", "audio/m4a"],
    ["\x1a\x45\xdf\xa3", "audio/webm"],
    ["OggS", "audio/ogg"],
  ],
};

function begins(start: string, pattern: string): boolean {
  return Array.from(pattern).every((byte, at) => byte === "." || byte === start[at]);
}

const NAMES: { readonly [K in Kind]: string } = {
  image: "PNG, JPEG, GIF or WebP",
  audio: "WAV, MP3, M4A, WebM or Ogg",
};

interface Problem {
  readonly problem: string;
}

/** Reads an image or audio file as a data URL. `problem`: why the file cannot be used. */
export async function readMedia(
  path: string,
  kind: Kind,
  files: Pick<Files, "openRead">,
): Promise<{ readonly url: string } | Problem> {
  const read = await readMediaFile(path, kind, files);
  return "problem" in read ? read : { url: dataUrl(read) };
}

export interface Media {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export function dataUrl({ type, bytes }: Media): string {
  return `data:${type};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")}`;
}

/** Reads an image or audio file, and detects its type by its first bytes. */
export async function readMediaFile(
  path: string,
  kind: Kind,
  files: Pick<Files, "openRead">,
): Promise<Media | Problem> {
  try {
    const file = await files.openRead(path);
    if (file === undefined) return { problem: "there is no such file" };
    try {
      const size = await file.size();
      if (size > MAX_BYTES) return { problem: `it is larger than ${MAX_BYTES} bytes` };
      return mediaOf(await file.read(0, size), kind);
    } finally {
      await file.close();
    }
  } catch (cause) {
    return { problem: (cause as Error).message };
  }
}

/** Detects the type of an image or sound by its first bytes. */
export function mediaOf(bytes: Uint8Array, kind: Kind): Media | Problem {
  const start = Buffer.from(bytes.subarray(0, HEADER_BYTES)).toString("latin1");
  const type = SIGNATURES[kind].find(([pattern]) => begins(start, pattern))?.[1];
  if (type === undefined) return { problem: `it is no ${NAMES[kind]}` };
  return kind === "image" && !hasSize(type, start)
    ? { problem: "it ends where the picture should begin" }
    : { type, bytes };
}

const HEADER_BYTES = 36;

/** Whether an image has a width and a height. Providers refuse a whole conversation that contains an empty image. */
function hasSize(type: string, start: string): boolean {
  switch (type) {
    case "image/png":
      return start.length >= 33 && /IHDR/.test(start) && !begins(start.slice(16), "\0\0\0\0");
    case "image/gif":
      return start.length >= 10 && !begins(start.slice(6), "\0\0");
    default:
      return start.length >= 20;
  }
}

/** Media types of sounds that clients use. */
const SOUNDS = /^audio\/(wav|x-wav|wave|vnd\.wave|mpeg|mp3|mp4|m4a|x-m4a|webm|ogg)$/i;

/** Checks an image or sound that a client sent as a data URL. `problem`: why it cannot be sent to models. */
export function inlineMedia(url: string, kind: Kind): { readonly url: string } | Problem {
  if (isRemote(url)) return { problem: "it is somewhere else, and is not fetched" };
  const [, type = "", payload] = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(url) ?? [];
  if (payload === undefined) return { problem: "it is no base64 data URL" };
  if (payload.length > (MAX_BYTES / 3) * 4) return { problem: `it is larger than ${MAX_BYTES} bytes` };
  // Only the beginning is decoded, because this runs at every model call.
  const start = payload.slice(0, (HEADER_BYTES / 3) * 4);
  if (!/^[\w+/]+=*$/.test(start)) return { problem: "it is no base64" };
  if (kind === "audio") return SOUNDS.test(type) ? { url } : { problem: `it is no ${NAMES.audio}` };
  const read = mediaOf(Buffer.from(start, "base64"), kind);
  if ("problem" in read) return read;
  // Providers require that the declared type matches the content.
  return { url: read.type === type ? url : `data:${read.type};base64,${payload}` };
}

/** The text for models in place of an image or sound that cannot be used. */
export function invalidMediaNote(kind: Kind, problem: string): string {
  return `(${kind} left out because it could not be processed: ${problem})`;
}

/** Whether a URL would have to be fetched. The host fetches nothing for models. */
export function isRemote(url: string): boolean {
  return /^https?:/i.test(url);
}
