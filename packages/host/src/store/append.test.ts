import { expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { Commit } from "../core/records.ts";
import { fault } from "../errors.ts";
import { append } from "./append.ts";
import type { AppendOutcome, ThreadJournal } from "./journal.ts";
import { MemoryJournal } from "./memory/in-memory-journal.ts";

const state = newThread();
const commit = (seq: number): Commit => ({ seq, epoch: 1, prev: seq - 1, records: [] });
const COMMITS = [1, 2, 3].map(commit);
const unknown = (cause: unknown = new Error("EIO")): AppendOutcome => ({
  kind: "unknown",
  of: "write",
  cause,
});
const committed: AppendOutcome = { kind: "committed", bytes: 7 };

/** A journal that appends and settles as the script says. An error is thrown. */
function scripted(appends: readonly AppendOutcome[], settles: readonly (number | Error)[]) {
  const calls: unknown[] = [];
  const [outcomes, counts] = [[...appends], [...settles]];
  const journal: ThreadJournal = Object.assign(new MemoryJournal(), {
    append: async (commits: Commit | readonly Commit[], durability: unknown, after: unknown) => {
      calls.push(["append", commits, durability]);
      expect(after).toBe(state);
      return outcomes.shift()!;
    },
    settle: async (commits: readonly Commit[], after: unknown) => {
      calls.push(["settle", commits.map(({ seq }) => seq)]);
      expect(after).toBe(state);
      const count = counts.shift();
      if (count instanceof Error) throw count;
      return count!;
    },
  });
  const timers = {
    after: (ms: number, run: () => void) => {
      calls.push(["wait", ms]);
      run();
      return () => {};
    },
  };
  const done = (commits: Commit | readonly Commit[] = COMMITS) =>
    append(journal, commits, "synced", state, timers);
  return { calls, done };
}

it("appends once if that succeeds, and gives back the bytes", async () => {
  const { calls, done } = scripted([committed], []);
  expect(await done(COMMITS[0])).toBe(7);
  expect(calls).toEqual([["append", COMMITS[0], "synced"]]);
});

it("writes again what is missing after a write of unknown outcome", async () => {
  const { calls, done } = scripted([unknown(), unknown(), committed], [1, 1]);
  expect(await done()).toBe(7);
  expect(calls).toEqual([
    ["append", COMMITS, "synced"],
    ["wait", 50],
    ["settle", [1, 2, 3]],
    ["append", COMMITS.slice(1), "synced"],
    ["wait", 200],
    ["settle", [2, 3]],
    ["append", COMMITS.slice(2), "synced"],
  ]);
});

it("tries to read the journal three times, and then says why it could not", async () => {
  const errors = ["one", "two", "three"].map((text) => new Error(text));
  const { calls, done } = scripted([unknown()], errors);
  await expect(done()).rejects.toMatchObject({
    code: "storageFailed",
    message: expect.stringContaining("three") as string,
  });
  const waits = calls.filter((call) => (call as readonly unknown[])[0] === "wait");
  expect(waits).toEqual([
    ["wait", 50],
    ["wait", 200],
    ["wait", 500],
  ]);
});

it.each([
  ["a conflict", { kind: "conflict" } as const, "another process has appended"],
  ["a failed fsync", { kind: "unknown", of: "sync", cause: new Error("EIO") } as const, "EIO"],
  ["a refusal", unknown(fault("storageFailed", "no room")), "no room"],
])("does not try again after %s", async (_, outcome, message) => {
  const { calls, done } = scripted([outcome], []);
  await expect(done()).rejects.toMatchObject({
    code: "storageFailed",
    message: expect.stringContaining(message) as string,
  });
  expect(calls).toHaveLength(1);
});

it("ends its tries with a conflict that the second write meets", async () => {
  const { calls, done } = scripted([unknown(), { kind: "conflict" }], [0]);
  await expect(done()).rejects.toThrow("another process has appended");
  expect(calls).toHaveLength(4);
});
