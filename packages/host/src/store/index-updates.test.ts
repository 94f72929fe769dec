import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../test/support/test-thread.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { commitAt, isIndexed, PassingCommits, recordCommits, rowOf, textsOf } from "./index-updates.ts";
import type { IndexedText, ThreadRow } from "./thread-index.ts";

const place = { path: null, archived: false };
const commit = (seq: number, ...records: readonly object[]): Commit => ({
  seq,
  epoch: 1,
  prev: seq - 1,
  records: records as readonly ThreadRecord[],
});
const said = (text: string | readonly object[], id = "i"): object => ({
  type: "itemCompleted",
  turnId: "turn-1",
  at: 7,
  item: {
    type: "userMessage",
    id,
    content: typeof text === "string" ? [{ type: "text", text, text_elements: [] }] : text,
  },
});
const answered = (phase: string | null, text = "words"): object => ({
  type: "itemCompleted",
  turnId: "turn-1",
  at: 7,
  item: { type: "agentMessage", id: "m", text, phase },
});
const injected = (...items: readonly unknown[]): object => ({ type: "itemsInjected", at: 8, items });
const dropped = (...turns: readonly string[]): object => ({ type: "turnsDropped", dropped: turns });

describe("the texts of a commit", () => {
  it("are what people and the model said, each with its kind and its place", () => {
    const texts = textsOf(commit(3, said("hello"), answered("final_answer", "hi"), { type: "turnEnded" }));
    expect(texts).toEqual([
      { turnId: "turn-1", itemId: "i", at: 7, place: 3 * 65_536, role: "user", text: "hello", kind: "user" },
      {
        turnId: "turn-1",
        itemId: "m",
        at: 7,
        place: 3 * 65_536 + 1,
        role: "agent",
        text: "hi",
        kind: "final",
      },
    ]);
    expect(texts.map((text) => commitAt(text.place))).toEqual([3, 3]);
    const kinds = ["final_answer", "partial_answer", "commentary", null].map(
      (phase) => textsOf(commit(1, answered(phase)))[0]?.kind,
    );
    expect(kinds).toEqual(["final", "partial", "other", "answer"]);
  });

  it("leave out what has no words, and join the parts of a message", () => {
    expect(textsOf(commit(1, said(" \n"), answered(null, "")))).toEqual([]);
    const parts = [
      { type: "text", text: "one" },
      { type: "image", url: "x" },
      { type: "text", text: "two" },
    ];
    expect(textsOf(commit(1, said(parts)))[0]).toMatchObject({ text: "one\n\ntwo", said: "onetwo" });
  });

  it("tell the user's own words from the context that a client adds before them", () => {
    const own = (text: string) => textsOf(commit(1, said(text)))[0]?.said;
    expect(own("files\n## My request for Codex:\nfix it")).toBe("fix it");
    expect(own("## My request for Codex: fix it")).toBe("fix it");
    expect(own(" fix it ")).toBe("fix it");
    expect(own("fix it")).toBeUndefined();
  });

  it("are also those of messages that a client injected, without the developer's", () => {
    const message = (role: string, ...content: readonly unknown[]) => ({ type: "message", role, content });
    const texts = textsOf(
      commit(
        2,
        injected(
          message("user", { text: "a" }, { image: 1 }, null),
          message("assistant", { text: "b" }),
          message("developer", { text: "c" }),
          { type: "reasoning", role: "user", content: [{ text: "d" }] },
          { type: "message", role: "user", content: "e" },
          null,
        ),
      ),
    );
    expect(texts.map(({ role, text, kind, itemId }) => [role, text, kind, itemId])).toEqual([
      ["user", "a\n\n", "other", ":injected 2 0 0"],
      ["agent", "b", "other", ":injected 2 0 1"],
    ]);
    expect(texts[0]).toMatchObject({ turnId: "", at: 8 });
  });
});

it("gives texts at the end of an enormous commit the last place of that commit", () => {
  const before = Array.from({ length: 65_534 }, () => ({ type: "turnEnded" }));
  const texts = textsOf(commit(3, ...before, said("a"), said("b"), said("c"), said("d")));
  const last = 4 * 65_536 - 1;
  expect(texts.map((text) => text.place)).toEqual([last - 1, last, last, last]);
  expect(texts.map((text) => commitAt(text.place))).toEqual([3, 3, 3, 3]);
});

describe("the row of a thread", () => {
  it("is in the index from the second commit on, and at once for a child", () => {
    const thread = newThread();
    const child = { ...thread, facts: { ...thread.facts, parentThreadId: "parent" } };
    expect([isIndexed(thread, 1), isIndexed(thread, 2), isIndexed(child, 1)]).toEqual([false, true, true]);
  });

  it("is listed with a message or a preview, and shows the thread as not loaded", () => {
    const row = rowOf(after(newThread(), startTurn()), 4, { path: "/p", archived: true });
    expect(row).toMatchObject({
      id: "t",
      seq: 4,
      archived: true,
      listed: true,
      sectionId: null,
      sectionPosition: null,
      thread: { path: "/p", status: { type: "notLoaded" } },
    });
    expect(rowOf({ ...newThread(), preview: "an objective" }, 1, place).listed).toBe(true);
    const placed = rowOf({ ...newThread(), section: { id: "s", position: 2, since: 1 } }, 1, place);
    expect([placed.sectionId, placed.sectionPosition, placed.listed]).toEqual(["s", 2, false]);
  });

  it("is recorded with the texts of all new commits and the turns that they dropped", async () => {
    const seen: [ThreadRow, readonly IndexedText[], readonly string[] | undefined][] = [];
    const index = {
      record: (row: ThreadRow, texts: readonly IndexedText[], gone?: readonly string[]) =>
        void seen.push([row, texts, gone]),
    };
    const state = after(newThread(), startTurn());
    recordCommits(index, [commit(1, said("hello"))], state, place);
    expect(seen).toEqual([]);
    const both = [
      commit(2, said("one"), dropped("turn-0")),
      commit(3, said("two"), dropped("turn-8", "turn-9")),
    ];
    recordCommits(index, [both[0]!], state, place);
    recordCommits(index, both, state, place);
    const passing = new PassingCommits();
    const passed: Commit[] = [];
    async function* all() {
      yield* both;
    }
    for await (const one of passing.of(all())) passed.push(one);
    passing.record(index, state, place);
    expect(passed).toEqual(both);
    const short = seen.map(([row, texts, gone]) => [row.seq, texts.map(({ text }) => text), gone]);
    const whole = [3, ["one", "two"], ["turn-0", "turn-8", "turn-9"]];
    expect(short).toEqual([[2, ["one"], ["turn-0"]], whole, whole]);
  });
});
