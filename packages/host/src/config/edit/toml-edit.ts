import { isTable, type Table } from "../layered-config.ts";
import type { ConfigChange } from "./config-edits.ts";
import {
  isSame,
  type Layout,
  layoutOf,
  type Pair,
  type ParseDocument,
  type Section,
  startsWith,
} from "./toml-layout.ts";
import { tomlPair, tomlPath, tomlValue } from "./toml-text.ts";

/**
 * Applies a change to a TOML text. Everything outside of the change stays the same, byte for byte: comments, order,
 * blank lines, notation. A comment on the line of a removed value, or inside a replaced value or table, is removed
 * with it.
 */
export function editToml(text: string, change: ConfigChange, parseDocument: ParseDocument): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return mark + applied(text.slice(mark.length), change, (one) => layoutOf(one, parseDocument));
}

type Lay = (text: string) => Layout;

/** Matches a text that ends with a blank line. */
const BLANK_END = /\n[ \t]*\r?\n$/;

function applied(text: string, { path, value, mergeStrategy }: ConfigChange, lay: Lay): string {
  const layout = lay(text);
  const inTheWay = noTable(layout, path);
  if (value === null) return inTheWay === undefined ? removed(text, path, lay) : text;
  if (inTheWay !== undefined) return inserted(removed(text, inTheWay, lay), path, value, lay);
  if (mergeStrategy === "upsert" && isTable(value) && hasTable(layout, path))
    return Object.entries(value).reduce(
      (now, [key, inner]) => applied(now, { path: [...path, key], value: inner, mergeStrategy }, lay),
      text,
    );
  return put(layout, path, value, lay);
}

/** Returns the first key on a path that exists without being a table. */
function noTable({ pairs, sections }: Layout, path: readonly string[]): readonly string[] | undefined {
  const isAbove = (above: readonly string[]): boolean =>
    above.length < path.length && startsWith(path, above);
  const array = sections.find((section) => section.isArray && isAbove(section.path));
  return (array ?? pairs.find((pair) => pair.items === undefined && isAbove(pair.path)))?.path;
}

function hasTable({ pairs, sections }: Layout, path: readonly string[]): boolean {
  if (sections.some((section) => section.isArray && isSame(section.path, path))) return false;
  const isIn = (one: readonly string[], isTableItself: boolean): boolean =>
    startsWith(one, path) && (one.length > path.length || isTableItself);
  return (
    sections.some((section) => isIn(section.path, true)) ||
    pairs.some((pair) => isIn(pair.path, pair.items !== undefined))
  );
}

/** Returns all sections and pairs that define a path or a part of it, without duplicates. */
function saying({ pairs, sections }: Layout, path: readonly string[]) {
  const own = sections.slice(1).filter((section) => startsWith(section.path, path));
  const isOwn = (pair: Pair): boolean =>
    startsWith(pair.path, path) &&
    !own.includes(pair.section) &&
    (pair.owner === undefined || !startsWith(pair.owner.path, path));
  return { sections: own, pairs: pairs.filter(isOwn) };
}

function put(layout: Layout, path: readonly string[], value: unknown, lay: Lay): string {
  const { text } = layout;
  const { pairs, sections } = saying(layout, path);
  const [pair] = pairs;
  if (pair !== undefined && pairs.length === 1 && sections.length === 0 && isSame(pair.path, path))
    return text.slice(0, pair.valueStart) + tomlValue(value) + text.slice(pair.end);
  if (pairs.length > 0 || (sections.length > 0 && !needsHeader(value)))
    return inserted(removed(text, path, lay), path, value, lay);
  if (sections.length === 0) return inserted(text, path, value, lay);
  return withBlock(withoutSections(layout, sections), sections[0]!.start, blocksOf(path, value), "in place");
}

/** Whether a value is written below a header: a table, or a list of tables. */
function needsHeader(value: unknown): boolean {
  return isTable(value) || isTableList(value);
}

function isTableList(value: unknown): value is readonly Table[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}

/** Inserts a value at a path that does not exist yet. Each key above it is a table, or does not exist. */
function inserted(text: string, path: readonly string[], value: unknown, lay: Lay): string {
  const layout = lay(text);
  const { pairs, sections } = layout;
  const depth = path.findLastIndex((_, nth) => hasTable(layout, path.slice(0, nth)));
  const table = path.slice(0, depth);
  const inline = pairs.find((pair) => pair.items !== undefined && isSame(pair.path, table));
  const [first, ...below] = path.slice(depth) as [string, ...string[]];
  if (inline !== undefined)
    return withItem(
      layout,
      inline,
      tomlPair(
        first,
        below.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
      ),
    );
  const section = sections.find((one) => !one.isArray && isSame(one.path, table));
  if (section === undefined) {
    // If the table is written with dotted keys, the value is added as another dotted key.
    const dotted = pairs.findLast(
      (pair) =>
        pair.owner === undefined &&
        pair.path.length > depth &&
        startsWith(pair.path, table) &&
        pair.section.path.length < depth,
    );
    if (dotted !== undefined) {
      const key = tomlPath(path.slice(dotted.section.path.length));
      return withLine(layout, lineEnd(text, dotted.end), `${key} = ${tomlValue(value)}`);
    }
  }
  if (needsHeader(value)) return withBlock(text, behindFamily(layout, path), blocksOf(path, value));
  if (section === undefined || below.length > 0) {
    const parent = path.slice(0, -1);
    return withBlock(text, behindFamily(layout, path), blocksOf(parent, { [path.at(-1)!]: value }));
  }
  const line = tomlPair(first, value);
  if (section !== sections[0]) return withLine(layout, section.end, line);
  return withRootLine(layout, line);
}

function withRootLine(layout: Layout, line: string): string {
  const { text, newline, pairs, sections } = layout;
  const [root, next] = sections as [Section, Section | undefined];
  if (pairs.some((pair) => pair.section === root)) return withLine(layout, root.end, line);
  if (next === undefined) return withLine(layout, text.length, line);
  const at = aboveComments(text, next.start);
  return `${text.slice(0, at)}${line}${newline}${newline}${text.slice(at)}`;
}

/** Returns the start of the comments directly above a line. */
function aboveComments(text: string, at: number): number {
  let start = at;
  while (start > 0) {
    const before = text.lastIndexOf("\n", start - 2) + 1;
    if (!/^[ \t]*#/.test(text.slice(before, start))) return start;
    start = before;
  }
  return start;
}

/** Returns the end of the last section with the same first key, else the end of the text. */
function behindFamily({ text, sections }: Layout, path: readonly string[]): number {
  const family = sections.slice(1).findLast((section) => section.path[0] === path[0]);
  return family?.end ?? text.trimEnd().length;
}

function withLine({ text, newline }: Layout, at: number, line: string): string {
  const before = text.slice(0, at);
  const gap = before === "" || before.endsWith("\n") ? "" : newline;
  return `${before}${gap}${line}${newline}${text.slice(at)}`;
}

/** Inserts a block of lines, with a blank line after it, and one before it unless it replaces another block. */
function withBlock(
  text: string,
  at: number,
  block: readonly string[],
  how: "new" | "in place" = "new",
): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const before = text.slice(0, at);
  const isEnded = before === "" || before.endsWith("\n");
  const ended = isEnded ? before : `${before}${newline}`;
  const after = isEnded ? text.slice(at) : text.slice(at).replace(/^[ \t]*\r?\n/, "");
  const gap = how === "in place" || ended.trim() === "" || BLANK_END.test(ended) ? "" : newline;
  const behind = after === "" || /^[ \t]*\r?\n/.test(after) ? "" : newline;
  return `${ended}${gap}${block.join(newline)}${newline}${behind}${after}`;
}

function withItem({ text }: Layout, { items, valueStart, end }: Pair, item: string): string {
  const last = items!.at(-1);
  if (last === undefined) return `${text.slice(0, valueStart)}{ ${item} }${text.slice(end)}`;
  return `${text.slice(0, last.end)}, ${item}${text.slice(last.end)}`;
}

/** Removes everything that defines a path. */
function removed(text: string, path: readonly string[], lay: Lay): string {
  const layout = lay(text);
  const { pairs, sections } = saying(layout, path);
  const [pair] = pairs;
  if (pair !== undefined) return removed(withoutPair(text, pair), path, lay);
  return sections.length === 0 ? text : withoutSections(layout, sections);
}

function withoutPair(text: string, pair: Pair): string {
  if (pair.owner === undefined) {
    const start = text.lastIndexOf("\n", pair.start - 1) + 1;
    return text.slice(0, start) + text.slice(lineEnd(text, pair.end));
  }
  const items = pair.owner.items!;
  const nth = items.indexOf(pair);
  const next = items[nth + 1];
  if (next !== undefined) return text.slice(0, pair.start) + text.slice(next.start);
  const before = items[nth - 1];
  if (before !== undefined) return text.slice(0, before.end) + text.slice(pair.end);
  return `${text.slice(0, pair.owner.valueStart)}{}${text.slice(pair.owner.end)}`;
}

/** Removes sections, and one of the two blank lines that each would leave behind. */
function withoutSections({ text }: Layout, sections: readonly Section[]): string {
  let left = "";
  let at = 0;
  for (const { start, end } of sections) {
    left += text.slice(at, start);
    at = end;
    if (left !== "" && !BLANK_END.test(left)) continue;
    const blank = /^[ \t]*\r?\n/.exec(text.slice(end));
    if (blank !== null) at = end + blank[0].length;
    else if (end === text.length) left = left.replace(/[ \t]*\r?\n$/, "");
  }
  return left + text.slice(at);
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found + 1;
}

/**
 * Formats a table as `[path]` with its values and then its nested tables, each with a header; a list of tables as
 * `[[path]]` sections.
 */
function blocksOf(path: readonly string[], value: unknown): readonly string[] {
  if (!isTableList(value)) return tableBlock(path, value as Table, `[${tomlPath(path)}]`, false);
  const blocks = value.map((one) => tableBlock(path, one, `[[${tomlPath(path)}]]`, true));
  return blocks.flatMap((block, nth) => (nth === 0 ? block : ["", ...block]));
}

function tableBlock(
  path: readonly string[],
  table: Table,
  header: string,
  isNeeded: boolean,
): readonly string[] {
  const entries = Object.entries(table);
  const plain = entries
    .filter(([, value]) => !needsHeader(value))
    .map(([key, value]) => tomlPair(key, value));
  const below = entries
    .filter(([, value]) => needsHeader(value))
    .map(([key, value]) => blocksOf([...path, key], value));
  const own = isNeeded || plain.length > 0 || below.length === 0 ? [[header, ...plain]] : [];
  return [...own, ...below].flatMap((block, nth) => (nth === 0 ? block : ["", ...block]));
}
