import type { Fields, Level, Log } from "./log.ts";

/** Limit on the log in memory, in characters. */
const MAX_CHARACTERS = 512 * 1024;
/** Limit on one line. The texts in longer ones are cut. */
const MAX_LINE_CHARACTERS = 8 * 1024;
/** Limits on one text in a line that is too long; the second one is used if the first one is not enough. */
const TEXT_LIMITS = [1024, 64] as const;

/** The levels of lines that are kept. */
export const RECENT_LEVELS = ["info", "warn", "error"] as const satisfies readonly Level[];
export type RecentLevel = (typeof RECENT_LEVELS)[number];

interface RecentLine {
  readonly level: RecentLevel;
  /** A JSON object and a line end. */
  readonly text: string;
}

export interface RecentLines {
  /** JSON objects, the oldest first. */
  readonly texts: readonly string[];
  /** The number of the last line that was looked at. The host's first line is number 1. */
  readonly last: number;
  /** Whether more lines than the query's `limit` follow its `after`. */
  readonly hasMore: boolean;
  /** Whether lines after the query's `after` were dropped from memory. */
  readonly gap: boolean;
}

/**
 * A log that also keeps its last lines in memory, for problem reports and `server/logs/read`. It keeps `info` and above
 * whatever level is written, because users rarely raise the level before a problem happens.
 */
export class RecentLog implements Log {
  readonly #log: Log;
  readonly #now: () => number;
  #lines: RecentLine[] = [];
  /** How many lines were dropped, all of them older than those that are kept. */
  #dropped = 0;
  #characters = 0;

  /** A log that keeps its last lines: the given one if it does so already. */
  static over(log: Log, now: () => number): RecentLog {
    return log instanceof RecentLog ? log : new RecentLog(log, now);
  }

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  debug(message: string, fields?: Fields): void {
    this.#log.debug(message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#keep("info", message, fields);
    this.#log.info(message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.#keep("warn", message, fields);
    this.#log.warn(message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.#keep("error", message, fields);
    this.#log.error(message, fields);
  }

  /** One JSON object per line, the oldest first. */
  text(): string {
    return this.#lines.map(({ text }) => text).join("");
  }

  /** The first `limit` lines after the line number `after`; without it the last `limit` lines. */
  read({
    after,
    limit,
    level,
  }: {
    readonly after?: number;
    readonly limit: number;
    readonly level: RecentLevel;
  }): RecentLines {
    const end = this.#dropped + this.#lines.length;
    const from = Math.min(Math.max(after ?? 0, this.#dropped), end);
    const found: { readonly number: number; readonly text: string }[] = [];
    for (const [nth, line] of this.#lines.slice(from - this.#dropped).entries())
      if (RECENT_LEVELS.indexOf(line.level) >= RECENT_LEVELS.indexOf(level))
        found.push({ number: from + nth + 1, text: line.text });
    const hasMore = after !== undefined && found.length > limit;
    const sent = after === undefined ? found.slice(-limit) : found.slice(0, limit);
    return {
      texts: sent.map(({ text }) => text),
      last: hasMore ? sent.at(-1)!.number : end,
      hasMore,
      gap: after !== undefined && after < this.#dropped,
    };
  }

  #keep(level: RecentLevel, msg: string, fields: Fields = {}): void {
    const text = `${lineOf(level, this.#now(), fields, msg)}\n`;
    this.#lines.push({ level, text });
    this.#characters += text.length;
    if (this.#characters <= MAX_CHARACTERS) return;
    // A quarter is dropped at once, because each drop copies the rest.
    const from = Math.ceil(this.#lines.length / 4);
    for (const gone of this.#lines.slice(0, from)) this.#characters -= gone.text.length;
    this.#lines = this.#lines.slice(from);
    this.#dropped += from;
  }
}

function lineOf(level: RecentLevel, time: number, fields: Fields, msg: string): string {
  // Spread twice: before the fields, to be written first, and after them, because a field may have the same name.
  const first = { level, time };
  const line = jsonOf({ ...first, ...fields, ...first, msg });
  if (line !== undefined && line.length <= MAX_LINE_CHARACTERS) return line;
  for (const limit of TEXT_LIMITS) {
    const shorter = jsonOf({ ...first, ...fields, ...first, msg }, limit);
    if (shorter !== undefined && shorter.length <= MAX_LINE_CHARACTERS) return shorter;
  }
  return JSON.stringify({ ...first, msg: cut(msg, TEXT_LIMITS[0]) });
}

/** Undefined if the fields cannot be written as JSON. */
function jsonOf(fields: Fields, textLimit?: number): string | undefined {
  try {
    return JSON.stringify(fields, (_key, value: unknown) => {
      if (value instanceof Error) return { message: value.message, stack: value.stack };
      if (typeof value === "string" && textLimit !== undefined) return cut(value, textLimit);
      return typeof value === "bigint" ? String(value) : value;
    });
  } catch {
    return undefined;
  }
}

/** Cuts a text at a space: half of a secret would not be recognized and redacted. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, Math.max(0, text.slice(0, limit).search(/\s\S*$/)))}…`;
}
