import type { TomlDocument } from "@decimalturn/toml-patch";

export type ParseDocument = (text: string) => Pick<TomlDocument, "cst">;

/** A `key = value` pair: at the top, in a section, or in an inline table. */
export interface Pair {
  /** Full path, with the keys of the section. */
  readonly path: readonly string[];
  /** Offset at which the pair starts. */
  readonly start: number;
  readonly end: number;
  readonly valueStart: number;
  /** Pairs of an inline table; undefined for other values. */
  readonly items: readonly Pair[] | undefined;
  /** The pair whose inline table contains this pair. */
  readonly owner: Pair | undefined;
  readonly section: Section;
}

/** The lines from `[header]` or `[[header]]` up to the next header. The first section has no header. */
export interface Section {
  readonly path: readonly string[];
  readonly isArray: boolean;
  /** Start of the header's line. */
  readonly start: number;
  /** End of the line of the last pair. Comments and blank lines after it belong to the next section. */
  readonly end: number;
}

/** Positions of all parts of a TOML text, as offsets. */
export interface Layout {
  readonly text: string;
  readonly newline: "\r\n" | "\n";
  /** The first section is the root. */
  readonly sections: readonly Section[];
  /** All pairs, including those of inline tables, without those inside arrays. */
  readonly pairs: readonly Pair[];
}

type Block = TomlDocument["cst"][number];
type KeyValue = Extract<Block, { equals: number }>;
type Head = Exclude<Block, KeyValue | { raw: string }>;
type TextPosition = Block["loc"]["start"];
type InlineTable = Extract<KeyValue["value"], { items: { item: KeyValue }[] }>;

/** Finds all parts of a TOML text, which must have no byte order mark. Throws the parser's error if it is not TOML. */
export function layoutOf(text: string, parseDocument: ParseDocument): Layout {
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const offset = ({ line, column }: TextPosition): number => lineStarts[line - 1]! + column;
  const lineEnd = (at: number): number => {
    const found = text.indexOf("\n", at);
    return found < 0 ? text.length : found + 1;
  };
  const pairs: Pair[] = [];

  const addPair = ({ key, value, loc }: KeyValue, section: Section, owner: Pair | undefined): Pair => {
    const inline = String(value.type) === "InlineTable" ? (value as InlineTable) : undefined;
    const items: Pair[] = [];
    const pair: Pair = {
      path: [...(owner?.path ?? section.path), ...key.value],
      start: offset(loc.start),
      end: offset(loc.end),
      valueStart: offset(value.loc.start),
      items: inline && items,
      owner,
      section,
    };
    pairs.push(pair);
    for (const { item } of inline?.items ?? []) items.push(addPair(item, section, pair));
    return pair;
  };

  const root = { path: [], isArray: false, start: 0, end: 0 };
  const sections: { -readonly [K in keyof Section]: Section[K] }[] = [root];
  for (const block of parseDocument(text).cst) {
    if ("equals" in block) {
      root.end = lineEnd(addPair(block, root, undefined).end);
      continue;
    }
    if (!("items" in block)) continue;
    const { key, items } = block as Head;
    const start = lineStarts[key.loc.start.line - 1]!;
    const section = {
      path: key.item.value,
      isArray: String(key.type) === "TableArrayKey",
      start,
      end: lineEnd(offset(key.loc.end)),
    };
    sections.push(section);
    for (const item of items)
      if ("equals" in item) section.end = lineEnd(addPair(item, section, undefined).end);
  }
  return { text, newline: text.includes("\r\n") ? "\r\n" : "\n", sections, pairs };
}

export function startsWith(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((key, nth) => keys[nth] === key);
}

export function isSame(keys: readonly string[], path: readonly string[]): boolean {
  return keys.length === path.length && startsWith(keys, path);
}
