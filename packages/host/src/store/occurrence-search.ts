// Finds the occurrences of a search term in the messages of one thread. Pure: the caller passes the messages.
import type { Occurrence, OccurrencePlace, OccurrenceQuery, TextKind } from "./thread-index.ts";

/** A message without its text, which may be long. */
export interface ListedMessage {
  readonly turnId: string;
  readonly itemId: string;
  readonly kind: TextKind;
  readonly place: number;
}

/** The text of a message in the index. */
export interface MessageText {
  readonly text: string;
  /** The text to search, if it differs from `text`. */
  readonly said: string | null;
}

/** The result of one step of a search. `next`: where the next step continues; null at the end. */
export interface OccurrencePart {
  readonly found: readonly Occurrence[];
  readonly next: OccurrencePlace | null;
}

/** Limit on the characters that one step searches, so that several searches alternate. */
const MAX_CHARS = 2_000_000;

/**
 * Searches messages in the order of their positions, until the limit is reached or the step ends. `plain`: removes the
 * Markdown of an answer.
 */
export function findOccurrences<M extends ListedMessage>(
  messages: readonly M[],
  textOf: (message: M) => MessageText,
  plain: (answer: string) => string,
  { searchTerm, from, limit, runningTurn }: OccurrenceQuery,
): OccurrencePart {
  const needle = searchTerm.normalize().toLowerCase();
  const found: Occurrence[] = [];
  let chars = 0;
  for (const message of shownMessages(messages, runningTurn)) {
    const { turnId, itemId, kind, place } = message;
    if (place < from.place) continue;
    if (chars > MAX_CHARS) return { found, next: { place, nth: 0 } };
    const { text, said } = textOf(message);
    chars += text.length;
    const shown = said ?? (kind === "user" ? text : plain(text));
    const first = place === from.place ? from.nth : 0;
    const ranges = rangesOf(needle, shown, first + limit - found.length);
    for (let nth = first; nth < ranges.length; nth++)
      found.push({ turnId, itemId, place, nth, ...snippetAround(shown, ranges[nth]!) });
    if (found.length === limit) return { found, next: { place, nth: ranges.length } };
  }
  return { found, next: null };
}

/** The messages that are searched: user messages, partial answers, and the answer of each ended turn. */
function shownMessages<M extends ListedMessage>(
  messages: readonly M[],
  runningTurn: string | null,
): readonly M[] {
  const answers = new Map<string, M>();
  for (const message of messages) {
    const { kind, turnId } = message;
    const isBetter = kind === "final" || (kind === "answer" && answers.get(turnId)?.kind !== "final");
    if (isBetter && turnId !== runningTurn) answers.set(turnId, message);
  }
  return messages.filter(
    (message) =>
      message.kind === "user" || message.kind === "partial" || answers.get(message.turnId) === message,
  );
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The ranges where a lower-case needle occurs in a text, in any case; at most `most` ranges. */
function rangesOf(needle: string, text: string, most: number): readonly Range[] {
  const small = text.toLowerCase();
  const original = small.length === text.length ? undefined : new OriginalPlaces(text);
  const ranges: Range[] = [];
  let at = small.indexOf(needle);
  while (at >= 0 && ranges.length < most) {
    const end = at + needle.length;
    ranges.push(original === undefined ? { start: at, end } : original.range(at, end));
    at = small.indexOf(needle, end);
  }
  return ranges;
}

/**
 * Maps positions in a lower-cased text to the original text: some letters get longer in lower case. Call it with
 * ascending positions.
 */
class OriginalPlaces {
  readonly #text: string;
  /** The position of the current letter, in the text and in the lower-cased text. */
  #at = 0;
  #smallAt = 0;

  constructor(text: string) {
    this.#text = text;
  }

  range(smallStart: number, smallEnd: number): Range {
    this.#goTo(smallStart);
    const start = this.#at;
    this.#goTo(smallEnd - 1);
    return { start, end: this.#at + this.#letter().length };
  }

  /** Advances to the letter that contains a position of the lower-case text. */
  #goTo(smallPlace: number): void {
    for (;;) {
      const letter = this.#letter();
      const next = this.#smallAt + letter.toLowerCase().length;
      if (next > smallPlace) return;
      this.#at += letter.length;
      this.#smallAt = next;
    }
  }

  #letter(): string {
    return String.fromCodePoint(this.#text.codePointAt(this.#at)!);
  }
}

const LETTERS_BEFORE = 49;
const LETTERS_AFTER = 96;
const MORE_BEFORE = "... ";
const MORE_AFTER = " ...";

/** A snippet around a range, and the range within it. */
function snippetAround(text: string, { start, end }: Range): Pick<Occurrence, "snippet" | "start" | "end"> {
  const from = lettersBefore(text, start, LETTERS_BEFORE);
  const to = lettersAfter(text, end, LETTERS_AFTER);
  const before = from > 0 ? MORE_BEFORE : "";
  const snippet = before + text.slice(from, to) + (to < text.length ? MORE_AFTER : "");
  const shift = before.length - from;
  return { snippet, start: start + shift, end: end + shift };
}

function lettersBefore(text: string, place: number, count: number): number {
  let at = place;
  for (let left = count; left > 0 && at > 0; left--) at -= isPair(text, at - 2) ? 2 : 1;
  return at;
}

function lettersAfter(text: string, place: number, count: number): number {
  let at = place;
  for (let left = count; left > 0 && at < text.length; left--) at += isPair(text, at) ? 2 : 1;
  return at;
}

/** Whether a surrogate pair starts at a position. */
function isPair(text: string, at: number): boolean {
  return at >= 0 && (text.codePointAt(at) ?? 0) > 0xffff;
}
