import { describe, expect, it } from "vitest";
import {
  after,
  decided,
  endModelCall,
  newThread,
  refusal,
  startTurn,
} from "../../../../../test/support/test-thread.ts";
import { LATE_CALL, OUTSIDE_CALL, withRap } from "../../../../../test/support/tool-server-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import { notify } from "../notify.ts";
import type { ThreadState } from "../state.ts";
import { isPlanning } from "./collaboration-modes.ts";
import { areNoticesDue, isClosingDue } from "./due-tool-server-notices.ts";
import { checkpointOf } from "./make-checkpoint.ts";
import { threadView } from "./thread-view.ts";

const ended = after(newThread(), startTurn(), endModelCall());
const methods = (state: ThreadState, command: Command) =>
  decided(state, command).records.flatMap((record) => notify("t", record).map(({ method }) => method));
const close = (reason: Extract<Command, { kind: "close" }>["reason"]) =>
  ({ kind: "close", at: 9, reason }) as const;
const open = (more: object = {}): Command => ({
  kind: "open",
  at: 10,
  load: {},
  docs: [],
  changes: {},
  ...more,
});

describe("the settings of a thread", () => {
  it("change by the values that differ, and the others stay", () => {
    const changes = { model: "other", cwd: "/work" };
    const { records, state } = decided(newThread(), { kind: "changeSettings", at: 5, changes });
    const settings = { ...newThread().settings, model: "other" };
    expect(records).toEqual([{ type: "settingsChanged", at: 5, settings }]);
    expect(state).toMatchObject({ settings, facts: newThread().facts });
    expect(decided(state, { kind: "changeSettings", at: 6, changes }).records).toEqual([]);
    expect(decided(state, { kind: "changeSettings", at: 6, changes: {} }).records).toEqual([]);
  });

  it("of the next load are collected until then", () => {
    const change = (changes: object) => ({ kind: "changeLoadSettings", at: 5, changes }) as Command;
    const first = decided(newThread(), change({ baseInstructions: "a", developerInstructions: "b" }));
    expect(first.records).toEqual([
      { type: "loadSettingsChanged", at: 5, changes: { baseInstructions: "a", developerInstructions: "b" } },
    ]);
    const both = after(first.state, change({ baseInstructions: "c" }));
    expect(both).toMatchObject({
      facts: newThread().facts,
      load: {},
      pendingLoad: { baseInstructions: "c", developerInstructions: "b" },
    });
  });
});

describe("the facts about the Git repository", () => {
  const change = (changes: object) => ({ kind: "changeGitInfo", at: 5, changes }) as Command;

  it("change one by one, and are none if all of them are null", () => {
    const { records, state } = decided(newThread(), change({ branch: "main" }));
    const gitInfo = { sha: null, branch: "main", originUrl: null };
    expect(records).toEqual([{ type: "gitInfoChanged", at: 5, gitInfo }]);
    expect(state).toEqual({ ...newThread(), gitInfo, lastAt: 5 });
    const more = after(state, change({ sha: "abc" }));
    expect(more.gitInfo).toEqual({ ...gitInfo, sha: "abc" });
    expect(after(more, change({ branch: null })).gitInfo).toEqual({ ...gitInfo, branch: null, sha: "abc" });
    expect(after(state, change({ branch: null })).gitInfo).toBeNull();
  });
});

describe("the section of a thread", () => {
  it("is entered and left", () => {
    const change = (sectionId: string | null) =>
      ({ kind: "changeSection", at: 5, sectionId, position: 2 }) as const;
    const inside = after(newThread(), change("s"));
    expect(inside).toEqual({ ...newThread(), section: { id: "s", position: 2, since: 5 }, lastAt: 5 });
    expect(after(inside, change(null)).section).toBeNull();
  });
});

describe("dropped turns", () => {
  it("leave the last turn that is kept, and no additional context", () => {
    const drop = (keepThrough: string | null) =>
      ({ kind: "dropTurns", at: 9, by: "revert", keepThrough, dropped: [], lastTurnId: "turn-1" }) as const;
    const before = { ...ended, context: [{}], contextTokens: 7 } as never;
    const { records, state } = decided(before, drop("turn-0"));
    expect(records).toEqual([
      { type: "turnsDropped", at: 9, by: "revert", keepThrough: "turn-0", dropped: [] },
    ]);
    expect(state).toMatchObject({
      lastTurn: { id: "turn-0", status: "completed" },
      context: [],
      contextTokens: 0,
      mayHaveDropped: true,
    });
    expect(after(before, drop(null)).lastTurn).toBeNull();
    expect(newThread().mayHaveDropped).toBe(false);
  });

  it("notify clients if they were reverted, not if they were rolled back", () => {
    const drop = { kind: "dropTurns", at: 9, keepThrough: null, dropped: [], lastTurnId: "turn-1" } as const;
    expect(methods(ended, { ...drop, by: "revert" })).toEqual(["thread/reverted"]);
    expect(methods(ended, { ...drop, by: "rollback" })).toEqual([]);
    expect(refusal(ended, { ...drop, by: "revert", lastTurnId: "turn-0" })).toBe("historyMoved");
  });
});

describe("injected items", () => {
  const inject: Command = { kind: "injectItems", at: 9, items: [{ type: "message" }] };

  it("follow the running turn, else the last one, else none", () => {
    const injected = (state: ThreadState) => decided(state, inject).records[0];
    const record = { type: "itemsInjected", at: 9, items: [{ type: "message" }] };
    expect(injected(newThread())).toStrictEqual(record);
    expect(injected(ended)).toStrictEqual({ ...record, after: "turn-1" });
    const running = after(ended, startTurn("turn-2", 5));
    expect(injected(running)).toStrictEqual({ ...record, after: "turn-2" });
  });

  it("are seen by the running turn if it is a regular one", () => {
    const regular = after(newThread(), startTurn());
    expect(regular.turn?.injected).toBe(false);
    expect(after(regular, inject).turn).toEqual({ ...regular.turn, injected: true });
    const review = after(newThread(), {
      kind: "startReview",
      at: 3,
      turnId: "turn-1",
      label: "changes",
      prompt: "Review.",
    });
    expect(after(review, inject).turn?.injected).toBe(false);
    expect(after(newThread(), inject).turn).toBeNull();
  });
});

describe("the close of a thread", () => {
  it.each([
    ["requested", ["thread/status/changed", "thread/closed"]],
    ["unsubscribed", ["thread/status/changed", "thread/closed"]],
    ["archived", ["thread/status/changed"]],
    ["deleted", ["thread/status/changed"]],
  ] as const)("because of %s notifies clients with %j", (reason, expected) => {
    expect(methods(newThread(), close(reason))).toEqual(expected);
  });

  it("is due at tool servers until they were notified, together with cancellations", () => {
    const closed = after(withRap({ late: [LATE_CALL], cancels: ["x"] }), close("requested"));
    expect(closed).toMatchObject({ untold: true, toldAt: null, status: { type: "notLoaded" } });
    expect(closed.rap).toMatchObject({ late: [], cancels: ["x", "c"] });
    const { records, state } = decided(closed, { kind: "notifyToolServers", at: 10 });
    expect(records).toEqual([
      { type: "cancelNotified", at: 10, callId: "x" },
      { type: "cancelNotified", at: 10, callId: "c" },
      { type: "notified", at: 10 },
    ]);
    expect(state).toMatchObject({ facts: closed.facts, untold: false, toldAt: 10 });
    expect(decided(state, { kind: "notifyToolServers", at: 11 }).records).toEqual([]);
  });

  it("makes notices due; so do cancellations of a thread that is loaded", () => {
    expect(newThread().untold).toBe(false);
    const due = (state: ThreadState) => [isClosingDue(state), areNoticesDue(state)];
    const closed = after(newThread(), close("requested"));
    expect(due(newThread())).toEqual([false, false]);
    expect(due({ ...newThread(), untold: true })).toEqual([false, false]);
    expect(due(withRap({ cancels: ["x"] }))).toEqual([false, true]);
    expect(due(closed)).toEqual([true, true]);
    expect(due(withRap({ cancels: ["x"] }, closed))).toEqual([true, true]);
    expect(due({ ...closed, untold: false })).toEqual([false, false]);
  });

  it("has no effect on a thread that is closed", () => {
    const closed = after(newThread(), close("requested"));
    expect(decided(closed, close("requested")).records).toEqual([]);
  });
});

describe("a new load", () => {
  const docs = [{ path: "/work/AGENTS.md", text: "Be brief." }] as never;
  const closed = after(
    withRap({ subscriptions: [OUTSIDE_CALL], cancels: ["x"] }),
    { kind: "changeLoadSettings", at: 2, changes: { baseInstructions: "a", developerInstructions: "b" } },
    close("requested"),
  );

  it("takes the settings that waited for it, and those that it brings", () => {
    const before = { ...closed, load: { baseInstructions: "old", personality: "p" } as never };
    const state = after(before, open({ load: { developerInstructions: "c" } }));
    expect(state).toMatchObject({
      load: { baseInstructions: "a", developerInstructions: "c", personality: "p" },
      pendingLoad: null,
      epoch: closed.epoch + 1,
      loadEpoch: closed.epoch + 1,
      status: { type: "idle" },
      untold: false,
    });
    expect(state.rap).toEqual(newThread().rap);
  });

  it("records its documents only if they have changed", () => {
    const opened = (state: ThreadState, given: unknown) =>
      decided(state, open({ docs: given })).records.find(({ type }) => type === "opened");
    expect(opened(closed, [])).toMatchObject({ docs: null, epoch: closed.epoch + 1, at: 10 });
    expect(opened(closed, docs)).toMatchObject({ docs });
    const read = after(closed, open({ docs }));
    expect(read.docs).toEqual(docs);
    expect(opened(after(read, close("requested")), docs)).toMatchObject({ docs: null });
    expect(after(read, close("requested"), open({ docs })).docs).toEqual(docs);
  });

  it("changes the settings that it is given", () => {
    const { records, state } = decided(closed, open({ changes: { model: "other" } }));
    expect(records.map(({ type }) => type)).toEqual(["opened", "settingsChanged"]);
    expect(state.settings.model).toBe("other");
  });
});

describe("an adopted thread", () => {
  it("has the next epoch and stays in its load", () => {
    const { records, state } = decided(ended, { kind: "adopt", at: 9 });
    expect(records[0]).toEqual({ type: "adopted", at: 9, epoch: 2, status: { type: "idle" } });
    expect(state).toMatchObject({ epoch: 2, loadEpoch: 1 });
  });
});

describe("a checkpoint of an earlier version", () => {
  it("has the values of a new thread for what it lacks, but may have dropped turns", () => {
    const { state, ...record } = checkpointOf(newThread());
    const { lastAt: _, mayHaveDropped: __, terminals: ___, children, helpers, networkRules, ...old } = state;
    const read = fold(undefined, { ...record, state: { ...old, updatedAt: 4 } } as never);
    expect(read).toEqual({ ...newThread(), updatedAt: 4, lastAt: 4, mayHaveDropped: true });
    expect([children, helpers, networkRules]).toEqual([read.children, read.helpers, read.networkRules]);
  });
});

describe("what clients see of a thread", () => {
  it("is the session of the thread itself, or that of a helper's root", () => {
    const place = { path: null, archived: false };
    expect(threadView(newThread(), place).sessionId).toBe("t");
    const spawn = { parent_thread_id: "root", depth: 1, agent_nickname: "Ada", agent_role: "explorer" };
    const source = { subAgent: { thread_spawn: spawn } };
    const view = (more: object) => {
      const facts = { ...newThread().facts, parentThreadId: "root", ancestors: ["root"], ...more };
      return threadView({ ...newThread(), facts } as ThreadState, place);
    };
    // A child that handles an event is no helper.
    expect(view({})).toMatchObject({ sessionId: "t", agentNickname: null, agentRole: null });
    expect(view({ source })).toMatchObject({
      sessionId: "root",
      agentNickname: "Ada",
      agentRole: "explorer",
    });
  });

  it("plans only in plan mode", () => {
    expect(isPlanning({ mode: { kind: "plan", instructions: null } })).toBe(true);
    expect(isPlanning({ mode: { kind: "default", instructions: null } })).toBe(false);
    for (const mode of [null, undefined]) expect(isPlanning({ mode } as never)).toBe(false);
  });
});
