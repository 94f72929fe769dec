import { describe, expect, it } from "vitest";
import { journalHref, parseRoute, threadHref, timelineHref } from "./route.ts";

describe("a route", () => {
  it.each([
    ["", { page: "threads" }],
    ["#", { page: "threads" }],
    ["#/nothing", { page: "threads" }],
    ["#/thread/", { page: "threads" }],
    ["#/new", { page: "new" }],
    ["#/host", { page: "host" }],
    ["#/thread/01a1", { page: "thread", threadId: "01a1" }],
    ["#/thread/01a1/turn/", { page: "thread", threadId: "01a1" }],
    ["#/thread/01a1/turn/last", { page: "thread", threadId: "01a1", timelineOf: "last" }],
    ["#/thread/01a1/journal", { page: "thread", threadId: "01a1", journal: {} }],
    ["#/thread/01a1/journal//1.2", { page: "thread", threadId: "01a1", journal: { record: "1.2" } }],
    ["#/thread/%zz", { page: "thread", threadId: "%zz" }],
  ])("of %j", (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it("keeps any id whole", () => {
    const threadId = 'a/b?c#d "e"';
    expect(parseRoute(threadHref(threadId))).toEqual({ page: "thread", threadId });
    const turn = { page: "thread", threadId, timelineOf: "a/b" };
    expect(parseRoute(timelineHref(threadId, "a/b"))).toEqual(turn);
    for (const journal of [{}, { turnId: "a/b" }, { record: "1.2-3-4.5i" }, { turnId: "t", record: "r" }])
      expect(parseRoute(journalHref(threadId, journal))).toEqual({ page: "thread", threadId, journal });
  });
});
