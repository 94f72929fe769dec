import { isDeepStrictEqual } from "node:util";
import { parse, parseDocument } from "@decimalturn/toml-patch";
import fc from "fast-check";
import { expect, it } from "vitest";
import { times } from "../../../../../test/support/long-form.ts";
import { isTable, plain, type Table } from "../layered-config.ts";
import { type ConfigChange, changed } from "./config-edits.ts";
import { editToml } from "./toml-edit.ts";
import { tomlKey, tomlPath, tomlValue } from "./toml-text.ts";

const RUNS = times(200, 2_000);

const KEYS = ["a", "b", "c", "d e", "é.f"] as const;
const key = fc.constantFrom(...KEYS);
const scalar = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.boolean(),
  fc.constantFrom("", "x", "# no comment", '"', "a\nb", "[t]", "ü😀"),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("any"), { maxLength: 2 }),
    fc.array(tie("table"), { minLength: 1, maxLength: 2 }),
    tie("table"),
  ),
  table: fc.dictionary(key, tie("any"), { maxKeys: 3 }),
})).any;

/** How a file is written: each choice is taken from a list of numbers, again and again. */
class Style {
  readonly #choices: readonly number[];
  #at = 0;
  #comments = 0;
  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }
  of(count: number): number {
    return this.#choices[this.#at++ % this.#choices.length]! % count;
  }
  comment(): string {
    return `#${++this.#comments}!`;
  }
}

/** A comment, and the path of what it goes away with; a header's own is its table's, one between lines has none above the root. */
interface Comment {
  readonly text: string;
  readonly of: readonly string[] | undefined;
}

/** Writes a table in one of the many ways that TOML has, with comments everywhere. */
function written(
  table: Table,
  style: Style,
): { readonly text: string; readonly comments: readonly Comment[] } {
  const lines: string[] = [];
  const comments: Comment[] = [];
  const remark = (of: readonly string[] | undefined): string => {
    const text = style.comment();
    comments.push({ text, of });
    return text;
  };
  const section = (path: readonly string[], rows: Table): void => {
    const later: (() => void)[] = [];
    for (const [name, inner] of Object.entries(rows)) {
      const at = [...path, name];
      const isList = Array.isArray(inner) && inner.length > 0 && inner.every(isTable);
      if (isTable(inner) && style.of(2) > 0) later.push(() => header(at, inner, "[]"));
      else if (isList && style.of(2) > 0)
        later.push(() => {
          for (const one of inner) header(at, one as Table, "[[]]");
        });
      else if (isTable(inner) && Object.keys(inner).length > 0 && style.of(3) === 0)
        for (const [below, leaf] of Object.entries(inner))
          pair(`${tomlKey(name)}.${tomlKey(below)}`, [...at, below], leaf);
      else pair(tomlKey(name), at, inner);
    }
    for (const write of later) write();
  };
  const pair = (name: string, at: readonly string[], inner: unknown): void => {
    if (style.of(4) === 0) lines.push(`  ${remark(at.slice(0, -1))}`);
    lines.push(
      `${" ".repeat(style.of(3))}${name} = ${tomlValue(inner)}${style.of(3) === 0 ? ` ${remark(at)}` : ""}`,
    );
  };
  const header = (at: readonly string[], rows: Table, brackets: "[]" | "[[]]"): void => {
    if (style.of(2) === 0) lines.push("");
    if (style.of(2) === 0) lines.push(remark(undefined));
    const half = brackets.length / 2;
    const name = `${brackets.slice(0, half)}${tomlPath(at)}${brackets.slice(half)}`;
    lines.push(style.of(3) === 0 ? `${name} ${remark(at)}` : name);
    section(at, rows);
  };
  section([], table);
  if (style.of(2) === 0) lines.push(remark(undefined));
  const newline = style.of(3) === 0 ? "\r\n" : "\n";
  return { text: lines.join(newline) + (style.of(4) === 0 ? "" : newline), comments };
}

/** Half of the changes are of something that is there. */
const change = fc.record({
  place: fc.nat(),
  isThere: fc.boolean(),
  path: fc.array(key, { minLength: 1, maxLength: 3 }),
  value: fc.oneof({ arbitrary: value, weight: 3 }, { arbitrary: fc.constant(null), weight: 2 }),
  mergeStrategy: fc.constantFrom("replace", "upsert"),
});

/** The paths of all values of a table, those of tables included; not into lists. */
function pathsOf(table: Table, above: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(table).flatMap(([name, inner]) => {
    const path = [...above, name];
    return [path, ...(isTable(inner) ? pathsOf(inner, path) : [])];
  });
}

/** Whether a comment of a path may go: its value, or a table that it stands in, was removed or replaced. */
function mayGo(of: readonly string[] | undefined, { path }: ConfigChange): boolean {
  if (of === undefined) return false;
  const shared = Math.min(of.length, path.length);
  return path.slice(0, shared).every((one, nth) => of[nth] === one) && of.length >= path.length;
}

it("[WRITE-3] random edits of random files keep every comment and every other value", () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, value, { maxKeys: 4 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      (table, choices, changes) => {
        const { text, comments } = written(table, new Style(choices));
        // Not everything that can be put together here is TOML: a table that dotted keys made has no header of its own.
        fc.pre(isToml(text) && isDeepStrictEqual(plain(parse(text)), plain(table)));
        let now = text;
        let kept = comments;
        for (const { place, isThere, ...asked } of changes) {
          const before = parse(now) as Table;
          const there = pathsOf(before);
          const one: ConfigChange = {
            ...asked,
            path: (isThere && there[place % there.length]) || asked.path,
          };
          const next = editToml(now, one, parseDocument);
          expect(withoutEmpty(plain(parse(next)))).toEqual(withoutEmpty(plain(changed(before, one))));
          kept = kept.filter((comment) => !mayGo(comment.of, one) && !isBlocked(before, comment.of, one));
          const left = (next.match(/#\d+!/g) ?? []).filter((found) =>
            kept.some(({ text: is }) => is === found),
          );
          expect(left).toEqual(kept.map(({ text: is }) => is));
          now = next;
        }
      },
    ),
    { numRuns: RUNS },
  );
});

/** A value on the way to what is written, that is no table, goes with its comments: a table takes its place. */
function isBlocked(
  before: Table,
  of: readonly string[] | undefined,
  { path, value: next }: ConfigChange,
): boolean {
  if (of === undefined || next === null) return false;
  let at: unknown = before;
  for (const [nth, one] of path.slice(0, -1).entries()) {
    if (!isTable(at) || !Object.hasOwn(at, one)) return false;
    at = at[one];
    if (!isTable(at)) return path.slice(0, nth + 1).every((name, depth) => of[depth] === name);
  }
  return false;
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

function withoutEmpty(given: unknown): unknown {
  if (!isTable(given)) return given;
  const entries = Object.entries(given).map(([name, inner]): [string, unknown] => [
    name,
    withoutEmpty(inner),
  ]);
  const left = entries.filter(([, inner]) => inner !== undefined);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
