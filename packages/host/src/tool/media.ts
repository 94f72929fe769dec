import type { Files } from "../platform/platform.ts";

/** A larger one is refused by every provider. */
const MAX_BYTES = 20 * 1024 * 1024;

type Kind = "image" | "audio";

/** How files of each kind begin, in bytes as latin1; a dot is any byte. */
const BEGINNINGS: { readonly [K in Kind]: readonly (readonly [string, string])[] } = {
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

/** A picture or a sound as a data URL, or why not, for whoever asked for it. */
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

export function mediaOf(bytes: Uint8Array, kind: Kind): Media | Problem {
  const start = Buffer.from(bytes.subarray(0, HEADER_BYTES)).toString("latin1");
  const type = BEGINNINGS[kind].find(([pattern]) => begins(start, pattern))?.[1];
  if (type === undefined) return { problem: `it is no ${NAMES[kind]}` };
  return kind === "image" && !hasSize(type, start)
    ? { problem: "it ends where the picture should begin" }
    : { type, bytes };
}

const HEADER_BYTES = 36;

/** A picture of no size is none; providers refuse it together with the whole conversation. */
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

/** What clients call the same sound. */
const SOUNDS = /^audio\/(wav|x-wav|wave|vnd\.wave|mpeg|mp3|mp4|m4a|x-m4a|webm|ogg)$/i;

/** A picture or a sound that a client gave as a data URL, or why no model can be given it. */
export function inlineMedia(url: string, kind: Kind): { readonly url: string } | Problem {
  if (isRemote(url)) return { problem: "it is somewhere else, and is not fetched" };
  const [, type = "", payload] = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(url) ?? [];
  if (payload === undefined) return { problem: "it is no base64 data URL" };
  if (payload.length > (MAX_BYTES / 3) * 4) return { problem: `it is larger than ${MAX_BYTES} bytes` };
  // A large one is not decoded for this, and this is done with every call of a model.
  const start = payload.slice(0, (HEADER_BYTES / 3) * 4);
  if (!/^[\w+/]+=*$/.test(start)) return { problem: "it is no base64" };
  if (kind === "audio") return SOUNDS.test(type) ? { url } : { problem: `it is no ${NAMES.audio}` };
  const read = mediaOf(Buffer.from(start, "base64"), kind);
  if ("problem" in read) return read;
  // Providers compare what it says that it is with what it is.
  return { url: read.type === type ? url : `data:${read.type};base64,${payload}` };
}

/** Nothing is fetched for models. */
export function isRemote(url: string): boolean {
  return /^https?:/i.test(url);
}
