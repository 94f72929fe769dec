import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import type { Random } from "../simulation/random.ts";

/** Kinds of damage to a journal. Each function returns the damaged text. */
const KINDS = {
  "bits flipped": (text: string, random: Random) => flipped(text, random, random.between(1, 3)),
  "many bits flipped": (text: string, random: Random) => flipped(text, random, random.between(10, 100)),
  "a field removed": (text: string, random: Random) => withJson(text, random, removed),
  "a field changed": (text: string, random: Random) => withJson(text, random, changed),
  "fields changed": (text: string, random: Random) => {
    let out = text;
    for (let times = random.between(2, 8); times > 0; times--) out = withJson(out, random, changed);
    return out;
  },
  "a record removed": (text: string, random: Random) =>
    withJson(text, random, (commit) => {
      const { records } = commit as { records?: unknown[] };
      records?.splice(random.below(records.length), 1);
    }),
  "the end cut off": (text: string, random: Random) => text.slice(0, random.below(text.length)),
  "the end cut off at a line": (text: string, random: Random) =>
    `${text.slice(0, random.below(text.length))}\n`,
  "a line twice": (text: string, random: Random) =>
    withLines(text, (lines) => insert(lines, random, random.pick(lines))),
  "lines again": (text: string, random: Random) =>
    withLines(text, (lines) => {
      const from = random.below(lines.length);
      return insert(lines, random, ...lines.slice(from, from + random.between(1, 12)));
    }),
  "a line removed": (text: string, random: Random) =>
    withLines(text, (lines) => lines.toSpliced(random.below(lines.length), 1)),
  "lines in another order": (text: string, random: Random) =>
    withLines(text, (lines) => {
      const [line] = lines.splice(random.below(lines.length), 1);
      return insert(lines, random, line!);
    }),
  "blank lines": (text: string, random: Random) =>
    withLines(text, (lines) =>
      insert(
        lines,
        random,
        ...Array<string>(random.between(1, 5000)).fill(random.pick(["", " ", "\t", "\r"])),
      ),
    ),
  "junk lines": (text: string, random: Random) =>
    withLines(text, (lines) =>
      insert(lines, random, ...Array<string>(random.between(1, 2000)).fill(random.pick(JUNK))),
    ),
  "a block of zeros": (text: string, random: Random) => {
    const at = random.below(text.length);
    const length = random.pick([1, 16, 512, 4096]);
    return text.slice(0, at) + "\0".repeat(length) + text.slice(at + length);
  },
  "nothing left": () => "",
} satisfies { readonly [what: string]: (text: string, random: Random) => string };

const JUNK = [
  "{",
  "[]",
  "null",
  "\0\0\0\0",
  '{"seq":1}',
  '{"seq":1,"epoch":1,"prev":0,"records":[]}',
  '{"seq":1,"epoch":1,"prev":0,"records":[null]}',
  '{"seq":1,"epoch":1,"prev":0,"records":[{}]}',
  "[".repeat(5000),
  `{"seq":1,"epoch":1,"prev":0,"records":${"[".repeat(2000)}${"]".repeat(2000)}}`,
];

/** What may be at the path of a journal in its place. Each function creates it. */
export const ODD_FILES = {
  "a FIFO": (path: string) => void execFileSync("mkfifo", [path]),
  "a link to a FIFO": (path: string) => {
    execFileSync("mkfifo", [`${path}.fifo`]);
    symlinkSync(`${path}.fifo`, path);
  },
  "a link to /dev/zero": (path: string) => symlinkSync("/dev/zero", path),
  "a link to /dev/urandom": (path: string) => symlinkSync("/dev/urandom", path),
  "a link to /dev/null": (path: string) => symlinkSync("/dev/null", path),
  "a link to /dev/tty": (path: string) => symlinkSync("/dev/tty", path),
  "a link to itself": (path: string) => symlinkSync(path, path),
  "a folder": (path: string) => mkdirSync(path),
} satisfies { readonly [what: string]: (path: string) => void };

/** The journal with one or two kinds of damage. `what` names them. */
export function damaged(text: string, random: Random): { readonly what: string; readonly text: string } {
  const [name, damage] = random.pick(Object.entries(KINDS));
  const once = damage(text, random);
  if (!random.chance(0.2) || once === "") return { what: name, text: once };
  const [second, again] = random.pick(Object.entries(KINDS));
  return { what: `${name}, ${second}`, text: again(once, random) };
}

function flipped(text: string, random: Random, count: number): string {
  const bytes = Buffer.from(text);
  for (let times = 0; times < count; times++) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  // As bytes, so that invalid UTF-8 stays invalid.
  return bytes.toString("latin1");
}

function withLines(text: string, change: (lines: string[]) => string[]): string {
  const lines = text.split("\n");
  return change(lines.length > 1 ? lines.slice(0, -1) : lines)
    .join("\n")
    .concat("\n");
}

function insert(lines: readonly string[], random: Random, ...more: readonly string[]): string[] {
  return lines.toSpliced(random.below(lines.length + 1), 0, ...more);
}

/** Changes one line so that it is still JSON. */
function withJson(text: string, random: Random, change: (value: object, random: Random) => void): string {
  return withLines(text, (lines) => {
    const at = random.below(lines.length);
    try {
      const value: unknown = JSON.parse(lines[at]!);
      if (typeof value === "object" && value !== null) change(value, random);
      return lines.with(at, JSON.stringify(value));
    } catch {
      return lines;
    }
  });
}

/** A random position within a value, preferably a deep one. */
function someplace(
  value: object,
  random: Random,
): readonly [holder: Record<string, unknown>, key: string] | undefined {
  let holder = value as Record<string, unknown>;
  for (;;) {
    const keys = Object.keys(holder);
    if (keys.length === 0) return undefined;
    const key = random.pick(keys);
    const inner = holder[key];
    if (
      typeof inner !== "object" ||
      inner === null ||
      Object.keys(inner).length === 0 ||
      random.chance(0.1)
    ) {
      return [holder, key];
    }
    holder = inner as Record<string, unknown>;
  }
}

function removed(value: object, random: Random): void {
  const place = someplace(value, random);
  if (place === undefined) return;
  const [holder, key] = place;
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function changed(value: object, random: Random): void {
  const place = someplace(value, random);
  if (place === undefined) return;
  const [holder, key] = place;
  holder[key] = other(holder[key], random);
}

/** A different value: of another type, or of the same type at its limits. */
function other(value: unknown, random: Random): unknown {
  if (typeof value === "number" && random.chance(0.7)) {
    return random.pick([
      0,
      -1,
      1,
      0.5,
      value + 1,
      -value,
      2 ** 31,
      2 ** 32,
      2 ** 53 - 1,
      2 ** 53,
      8.64e15,
      1e300,
    ]);
  }
  if (typeof value === "string" && random.chance(0.7)) {
    return random.pick([
      "",
      "x",
      `${value}x`,
      "__proto__",
      "../../..",
      "\u0000",
      "9".repeat(100),
      "completed",
      "e1",
    ]);
  }
  if (typeof value === "boolean" && random.chance(0.7)) return !value;
  return random.pick<unknown>([
    null,
    true,
    7,
    "text",
    [],
    {},
    [null],
    [[]],
    { type: "text" },
    { __proto__: null },
  ]);
}
