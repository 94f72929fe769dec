/** An invalid front matter of a SKILL.md. The message says why. */
export class FrontMatterError extends Error {}

/** Texts by key. A nested key is joined with a dot, as in `metadata.short-description`. */
export type FrontMatter = ReadonlyMap<string, string>;

const FENCE = /^---\s*$/;
const KEY = /^([A-Za-z0-9_-]+):(?:\s+(.*?))?\s*$/;

/**
 * Reads the front matter: the block between `---` lines at the top of a file. It is YAML, of which people use plain
 * values, quoted values and block texts. Only these are read; values of other kinds are ignored.
 */
export function readFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end = FENCE.test(lines[0] ?? "") ? lines.findIndex((line, at) => at > 0 && FENCE.test(line)) : -1;
  if (end === -1) throw new FrontMatterError("the file does not start with a block between two lines of ---");
  const found = new Map<string, string>();
  let parent = "";
  for (let at = 1; at < end; at++) {
    const line = lines[at]!;
    if (line.trim() === "" || /^\s*#/.test(line)) continue;
    const indent = indentOf(line);
    const [, key, value = ""] = KEY.exec(line.trim()) ?? [];
    if (key === undefined) {
      if (indent === 0) throw new FrontMatterError(`line ${at + 1} is no "key: value"`);
      // A list, or the continuation of an ignored value.
      continue;
    }
    if (indent === 0) parent = key;
    let below = at + 1;
    while (below < end && (lines[below]!.trim() === "" || indentOf(lines[below]!) > indent)) below++;
    const name = indent === 0 ? key : `${parent}.${key}`;
    const block = /^([>|])[+-]?\d*$/.exec(value)?.[1];
    if (block !== undefined) {
      found.set(name, joined(lines.slice(at + 1, below), block === ">"));
      at = below - 1;
    } else if (value !== "") {
      // Plain text may continue on the following lines.
      const all = joined([value, ...lines.slice(at + 1, below)], true);
      const scalar = readScalar(all, at + 1);
      if (scalar !== undefined) found.set(name, scalar);
      at = below - 1;
    }
  }
  return found;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * Joins the lines of a block text. Folded text (`>`) becomes one line per paragraph; literal text keeps its lines,
 * without their common indentation.
 */
function joined(lines: readonly string[], folded: boolean): string {
  if (folded) {
    const paragraphs = lines.map((line) => line.trim() || "\n").join(" ");
    return paragraphs.replace(/ *\n */g, "\n").trim();
  }
  const indents = lines.filter((line) => line.trim() !== "").map(indentOf);
  const least = Math.min(...indents);
  return lines
    .map((line) => line.slice(least).trimEnd())
    .join("\n")
    .trim();
}

/** Reads a quoted or plain text, a number or a flag as text; undefined for a list or an object. */
function readScalar(text: string, line: number): string | undefined {
  if (text.startsWith('"')) {
    const [, inside] = /^("(?:[^"\\]|\\.)*")(?:\s+#.*)?$/.exec(text) ?? [];
    if (inside === undefined) throw new FrontMatterError(`line ${line}: a quote is not closed`);
    try {
      return JSON.parse(inside) as string;
    } catch {
      throw new FrontMatterError(`line ${line}: the quoted text cannot be read`);
    }
  }
  if (text.startsWith("'")) {
    const [, inside] = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(text) ?? [];
    if (inside === undefined) throw new FrontMatterError(`line ${line}: a quote is not closed`);
    return inside.replaceAll("''", "'");
  }
  if (/^[[{&*!]/.test(text)) return undefined;
  return text.replace(/\s+#.*$/, "");
}
