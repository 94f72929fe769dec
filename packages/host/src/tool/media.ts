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
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  const type = BEGINNINGS[kind].find(([pattern]) => begins(start, pattern))?.[1];
  return type === undefined ? { problem: `it is no ${NAMES[kind]}` } : { type, bytes };
}
