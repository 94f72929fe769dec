import { shownPicture } from "./raster-picture.ts";

/** The bytes of each type, one per character, and where they are. SVG is not among them: it can have scripts. */
const SIGNATURES: readonly (readonly [type: string, bytes: string, at: number])[] = [
  ["png", "\x89PNG\r\n\x1a\n", 0],
  ["jpeg", "\xff\xd8\xff", 0],
  ["gif", "GIF87a", 0],
  ["gif", "GIF89a", 0],
  ["webp", "WEBP", 8],
  ["avif", "ftypavif", 4],
  ["avif", "ftypavis", 4],
];

/** The URL of a file's content, whose type is found by its first bytes. Undefined if it is no picture. */
export function pictureOfFile(dataBase64: string): string | undefined {
  const start = atob(dataBase64.slice(0, 16));
  const type = SIGNATURES.find(([, bytes, at]) => start.startsWith(bytes, at))?.[0];
  return type === undefined ? undefined : shownPicture(`data:image/${type};base64,${dataBase64}`);
}
