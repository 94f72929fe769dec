import { describe, expect, it } from "vitest";
import { findOccurrences } from "./occurrence-search.ts";
import type { OccurrencePlace, OccurrenceQuery, TextKind } from "./thread-index.ts";

interface Message {
  readonly turnId: string;
  readonly itemId: string;
  readonly kind: TextKind;
  readonly place: number;
  readonly text: string;
  readonly said?: string;
}

const message = (place: number, kind: TextKind, text: string, turnId = "t1", said?: string): Message => ({
  turnId,
  itemId: `${turnId} ${place}`,
  kind,
  place,
  text,
  ...(said !== undefined && { said }),
});

const find = (messages: readonly Message[], searchTerm: string, more: Partial<OccurrenceQuery> = {}) =>
  findOccurrences(
    messages,
    ({ text, said }) => ({ text, said: said ?? null }),
    (answer) => answer.replaceAll("*", ""),
    { threadId: "t", searchTerm, from: { place: 0, nth: 0 }, limit: 100, runningTurn: null, ...more },
  );

/** What was found in one text, as it stands in the snippet. */
const matches = (text: string, searchTerm: string): string[] =>
  find([message(1, "user", text)], searchTerm).found.map(({ snippet, start, end }) =>
    snippet.slice(start, end),
  );

describe("occurrences in a thread", () => {
  it("[LIST-15] are in what users said, in parts of answers, and in each turn's last answer", () => {
    const found = (...kinds: TextKind[]): number[] =>
      find(
        kinds.map((kind, at) => message(at, kind, "a needle")),
        "needle",
      ).found.map(({ place }) => place);
    expect(found("user", "answer", "answer")).toEqual([0, 2]);
    expect(found("answer", "final", "answer")).toEqual([1]);
    expect(found("final", "final")).toEqual([1]);
    expect(found("partial", "partial", "answer")).toEqual([0, 1, 2]);
    expect(found("other", "other")).toEqual([]);
    expect(found("answer", "other")).toEqual([0]);
  });

  it("[LIST-15] leave out the answer of a turn that runs", () => {
    const messages = [
      message(1, "user", "needle"),
      message(2, "partial", "needle"),
      message(3, "answer", "needle"),
    ];
    expect(find(messages, "needle", { runningTurn: "t1" }).found).toHaveLength(2);
    expect(find(messages, "needle", { runningTurn: "t2" }).found).toHaveLength(3);
  });

  it("[LIST-15] are looked for in what people see", () => {
    expect(find([message(1, "answer", "nee**dle**")], "needle").found).toMatchObject([{ snippet: "needle" }]);
    expect(find([message(1, "user", "nee**dle**")], "needle").found).toEqual([]);
    expect(find([message(1, "user", "context needle", "t1", "needle")], "context").found).toEqual([]);
  });

  it("[LIST-15] are to the letter but for the case, one after the other", () => {
    expect(matches("Needle NEEDLE nEEdle", "neeDLE")).toEqual(["Needle", "NEEDLE", "nEEdle"]);
    expect(matches("aaaaa", "aa")).toEqual(["aa", "aa"]);
    expect(matches("a.b a*b", ".")).toEqual(["."]);
    expect(matches("ÉTÉ été ete", "été")).toEqual(["ÉTÉ", "été"]);
    expect(matches("Straße", "strasse")).toEqual([]);
    // Longer in small letters: what is behind it is found where it is.
    expect(matches("İİ İstanbul ABC", "abc")).toEqual(["ABC"]);
    expect(matches("İstanbul", "i̇stanbul")).toEqual(["İstanbul"]);
    expect(matches("😀 ΣΑΣ 😀", "σας 😀")).toEqual(["ΣΑΣ 😀"]);
    // However an accent is written.
    expect(matches("caf\u00e9", "cafe\u0301")).toEqual(["caf\u00e9"]);
  });

  it("[LIST-15] are shown with some of the text around them, whole letters of it", () => {
    const text = `${"😀".repeat(60)}needle${"😀".repeat(100)}`;
    const [only] = find([message(1, "user", text)], "needle").found;
    expect(only).toEqual({
      turnId: "t1",
      itemId: "t1 1",
      place: 1,
      nth: 0,
      snippet: `... ${"😀".repeat(49)}needle${"😀".repeat(96)} ...`,
      start: 4 + 2 * 49,
      end: 4 + 2 * 49 + 6,
    });
    expect(find([message(1, "user", "a needle b")], "needle").found).toMatchObject([
      { snippet: "a needle b", start: 2, end: 8 },
    ]);
  });

  it("[LIST-15] are shown with 49 letters before them and 96 after them, or as many as there are", () => {
    const around = (letter: string, before: number, after: number): string => {
      const [only] = find(
        [message(1, "user", `${letter.repeat(before)}needle${letter.repeat(after)}`)],
        "needle",
      ).found;
      expect(only!.snippet.slice(only!.start, only!.end)).toBe("needle");
      return only!.snippet;
    };
    // The last one is the highest letter that is not a pair.
    for (const letter of ["x", "😀", "\uffff"]) {
      const plain = (before: number, after: number): string =>
        `${letter.repeat(before)}needle${letter.repeat(after)}`;
      expect(around(letter, 0, 0)).toBe("needle");
      expect(around(letter, 1, 1)).toBe(plain(1, 1));
      expect(around(letter, 49, 96)).toBe(plain(49, 96));
      expect(around(letter, 50, 96)).toBe(`... ${plain(49, 96)}`);
      expect(around(letter, 49, 97)).toBe(`${plain(49, 96)} ...`);
    }
  });

  it("[LIST-15] are where they stand behind letters that get longer in lower case", () => {
    const places = (text: string, term: string) =>
      find([message(1, "user", text)], term).found.map(({ start, end }) => [start, end]);
    expect(places("İa İab aİ", "a")).toEqual([
      [1, 2],
      [4, 5],
      [7, 8],
    ]);
    expect(places("😀İ😀İb", "😀")).toEqual([
      [0, 2],
      [3, 5],
    ]);
    // A match that begins or ends within a letter has the whole letter.
    expect(places("aİb", "i")).toEqual([[1, 2]]);
    expect(places("aİb", "\u0307b")).toEqual([[1, 3]]);
    expect(places("aİİb", "ai")).toEqual([[0, 2]]);
  });

  it("[LIST-16] go on behind any of them", () => {
    const messages = [
      message(1, "user", "x x x"),
      message(2, "answer", "none"),
      message(7, "user", "x X", "t2"),
      message(8, "final", "x", "t2"),
    ];
    const all = find(messages, "x").found.map(({ place, nth }): OccurrencePlace => ({ place, nth }));
    expect(all).toHaveLength(6);
    for (let at = 0; at < all.length; at++) {
      for (const limit of [1, 2, 3]) {
        const { found } = find(messages, "x", { from: all[at]!, limit });
        expect(found.map(({ place, nth }) => ({ place, nth }))).toEqual(all.slice(at, at + limit));
      }
    }
  });

  it("[LIST-16] say where the next one may be, and that there is none after the last message", () => {
    const messages = [message(1, "user", "x x x"), message(5, "user", "x", "t2")];
    const next = (limit: number, from = { place: 0, nth: 0 }) => find(messages, "x", { limit, from }).next;
    expect([next(1), next(3), next(4), next(5)]).toEqual([
      { place: 1, nth: 1 },
      { place: 1, nth: 3 },
      { place: 5, nth: 1 },
      null,
    ]);
    expect(next(1, { place: 1, nth: 1 })).toEqual({ place: 1, nth: 2 });
    expect(next(1, { place: 9, nth: 0 })).toBeNull();
  });

  it("[LIST-16] are looked for in two million letters, and the message in which these end", () => {
    const long = (letters: number) => [
      message(1, "user", "y".repeat(letters)),
      message(2, "user", "x", "t2"),
      message(3, "user", "x", "t3"),
    ];
    expect(find(long(2_000_000), "x")).toMatchObject({ found: [{ place: 2 }], next: { place: 3, nth: 0 } });
    expect(find(long(2_000_001), "x")).toEqual({ found: [], next: { place: 2, nth: 0 } });
    expect(find(long(1_999_998), "x").next).toBeNull();
  });

  it("[LIST-16] are looked for in long threads piece by piece, and each is found once", () => {
    const messages = Array.from({ length: 12 }, (_, at) =>
      message(at, "user", `${"long ".repeat(200_000)}needle`, `t${at}`),
    );
    const found: number[] = [];
    let parts = 0;
    for (let from: OccurrencePlace | null = { place: 0, nth: 0 }; from !== null; parts++) {
      const part = find(messages, "needle", { from });
      found.push(...part.found.map(({ place }) => place));
      from = part.next;
    }
    expect(found).toEqual(messages.map(({ place }) => place));
    expect(parts).toBeGreaterThan(3);
  });
});
