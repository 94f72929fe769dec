import type { UserInput } from "@bobbin/protocol";

/** Files that the user chose in the field: the text of each mention, and the file's absolute path. */
export type Mentions = ReadonlyMap<string, string>;

/** Matches what may follow a mention, so that `@a` is not found in `@a.ts`. */
const END = /^[,.;:!?)]*(?:\s|$)/;
const PICTURE = /\.(?:png|jpe?g|gif|webp)$/i;

/** The text of a mention of a file. */
export function mentionOf(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`;
}

/**
 * The parts of a message. Mentions that are still in the text are marked in it (`text_elements`), and each file
 * becomes a separate part: a picture for the model to see, any other file as its path.
 */
export function messageInput(text: string, mentions: Mentions, pictures: readonly string[]): UserInput[] {
  const input: UserInput[] = [];
  const named = new Set<string>();
  const elements = [];
  for (const at of text.matchAll(/(?<=^|\s)@/g)) {
    const rest = text.slice(at.index);
    const mention = [...mentions.keys()].find(
      (each) => rest.startsWith(each) && END.test(rest.slice(each.length)),
    );
    if (mention === undefined) continue;
    named.add(mention);
    const start = byteLength(text.slice(0, at.index));
    elements.push({ byteRange: { start, end: start + byteLength(mention) }, placeholder: mention });
  }
  if (text.trim() !== "")
    input.push({ type: "text", text, ...(elements.length > 0 && { text_elements: elements }) });
  for (const mention of named) {
    const path = mentions.get(mention)!;
    if (PICTURE.test(path)) input.push({ type: "localImage", path });
    else input.push({ type: "mention", name: mention.slice(1).replaceAll('"', ""), path });
  }
  return [...input, ...pictures.map((url) => ({ type: "image", url }) as UserInput)];
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
