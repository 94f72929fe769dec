import type { Notification } from "@bobbin/client";
import type { Thread } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { fitsStatus, NO_FILTER, type ThreadFilter } from "./thread-filter.ts";
import { applyToRows, type ThreadRow } from "./thread-rows.ts";

const IDLE: Thread["status"] = { type: "idle" };
const WORKING: Thread["status"] = { type: "active", activeFlags: [] };
const ASKING: Thread["status"] = { type: "active", activeFlags: ["waitingOnApproval"] };

function thread(id: string, more: Partial<Thread> = {}): Thread {
  const known: Partial<Thread> = {
    id,
    name: null,
    preview: id,
    cwd: "/work",
    status: IDLE,
    ephemeral: false,
    parentThreadId: null,
    recencyAt: 10,
    ...more,
  };
  return known as Thread;
}

const rows: readonly ThreadRow[] = [
  { thread: thread("a", { recencyAt: 30 }) },
  { thread: thread("b", { recencyAt: 20 }) },
  { thread: thread("c") },
];

function after(notification: object, filter: Partial<ThreadFilter> = {}, now = 40): readonly ThreadRow[] {
  return applyToRows(rows, notification as Notification, { ...NO_FILTER, ...filter }, now);
}

const ids = (list: readonly ThreadRow[]): string[] => list.map((row) => row.thread.id);
const status = (threadId: string, to: Thread["status"]) => ({
  method: "thread/status/changed",
  params: { threadId, status: to },
});

describe("the list of threads", () => {
  it("puts a thread that begins to work in front, and leaves one that is unloaded in its place", () => {
    const working = after(status("c", WORKING));
    expect(ids(working)).toEqual(["c", "a", "b"]);
    expect(working[0]!.thread.status).toEqual(WORKING);
    expect(ids(after(status("b", { type: "notLoaded" })))).toEqual(["a", "b", "c"]);
  });

  it("keeps a given order, and leaves new threads out of it", () => {
    const given = (notification: object) =>
      applyToRows(rows, notification as Notification, NO_FILTER, 40, "given");
    expect(ids(given(status("c", WORKING)))).toEqual(["a", "b", "c"]);
    expect(given(status("c", WORKING))[2]!.thread.status).toEqual(WORKING);
    expect(given({ method: "thread/started", params: { thread: thread("d") } })).toBe(rows);
  });

  it("shows a new thread in front, unless the filter is about others", () => {
    const started = { method: "thread/started", params: { thread: thread("d") } };
    expect(ids(after(started))).toEqual(["d", "a", "b", "c"]);
    for (const filter of [
      { archived: true },
      { search: "x" },
      { folder: "/else" },
      { status: "active" as const },
    ])
      expect(after(started, filter)).toBe(rows);
    expect(after(started, { owner: "local" })).toBe(rows);
    const owned = { method: "thread/started", params: { thread: thread("d", { owner: "local" }) } };
    expect(ids(after(owned, { owner: "local" }))).toEqual(["d", "a", "b", "c"]);
  });

  it("does not show ephemeral threads and helpers", () => {
    for (const more of [{ ephemeral: true }, { parentThreadId: "a" }])
      expect(after({ method: "thread/started", params: { thread: thread("d", more) } })).toBe(rows);
  });

  it("moves threads between the archive and the rest", () => {
    const archived = { method: "thread/archived", params: { threadId: "b" } };
    const unarchived = { method: "thread/unarchived", params: { threadId: "b" } };
    expect(ids(after(archived))).toEqual(["a", "c"]);
    expect(after(archived, { archived: true })).toBe(rows);
    expect(ids(after(unarchived, { archived: true }))).toEqual(["a", "c"]);
  });

  it("follows names and deletions, and returns the same list for anything else", () => {
    const named = after({ method: "thread/name/updated", params: { threadId: "b", threadName: "Shop" } });
    expect(named[1]!.thread.name).toBe("Shop");
    expect(ids(after({ method: "thread/deleted", params: { threadId: "a" } }))).toEqual(["b", "c"]);
    expect(after({ method: "thread/deleted", params: { threadId: "z" } })).toBe(rows);
    expect(after({ method: "item/started", params: { threadId: "a" } })).toBe(rows);
    expect(after(status("z", WORKING))).toBe(rows);
  });

  it.each<[ThreadFilter["status"], boolean, boolean, boolean, boolean]>([
    ["all", true, true, true, true],
    ["loaded", false, true, true, true],
    ["active", false, false, true, true],
    ["waiting", false, false, false, true],
    ["error", false, false, false, false],
  ])("fits the filter %s", (wanted, ...expected) => {
    const threads = [{ type: "notLoaded" } as const, IDLE, WORKING, ASKING];
    expect(threads.map((to) => fitsStatus(thread("a", { status: to }), wanted))).toEqual(expected);
  });
});
