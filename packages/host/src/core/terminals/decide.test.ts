import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { CallStep } from "../turn/call-stages.ts";
import type { TurnCommand } from "../turn/commands.ts";
import { leaveShells } from "./decide.ts";
import { withSavedOutput } from "./fold.ts";
import type { CommandItem } from "./records.ts";

const TURN = "turn-1";

function types(records: readonly ThreadRecord[]): readonly string[] {
  return records.map(({ type }) => type).filter((type) => type !== "statusChanged");
}

function command(id: string, source: CommandItem["source"]): CommandItem {
  return {
    type: "commandExecution",
    id,
    command: "sh -c wait",
    cwd: "/work",
    processId: source === "userShell" ? null : "4321",
    source,
    status: "inProgress",
    commandActions: [],
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
    pluginId: null,
    scriptPath: null,
    startedAtMs: 3,
    completedAtMs: null,
  };
}

const step = (from: "proposed" | "dispatched", taken: CallStep, callId = "c"): TurnCommand => ({
  kind: "stepCall",
  at: 4,
  turnId: TURN,
  callId,
  from,
  step: taken,
});
const calls = (callId: string): TurnCommand => ({
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId, name: "exec_command", namespace: null, arguments: "{}", kind: "function" },
});
const spoken: TurnCommand = {
  kind: "sampled",
  at: 5,
  turnId: TURN,
  attempt: 1,
  outcome: {
    kind: "done",
    usage: {
      totalTokens: 1,
      inputTokens: 1,
      cachedInputTokens: 0,
      outputTokens: 0,
      reasoningOutputTokens: 0,
    } as never,
    contextWindow: null,
  },
};
const left: CallStep = {
  kind: "settle",
  output: "running",
  success: true,
  left: { processId: "4321", outside: false },
};
const runs: CallStep = { kind: "dispatch", again: false, item: command("c", "unifiedExecStartup") };

const dispatched = after(newThread(), startTurn(), calls("c"), step("proposed", runs));
const withTerminal = after(dispatched, step("dispatched", left));
const idle = after(withTerminal, spoken, { ...spoken, attempt: 2 });

describe("a command that outlives its call", () => {
  it("keeps its item open when its turn ends, and is attended to", () => {
    expect(idle.turn).toBeNull();
    expect(idle.terminals).toMatchObject([{ processId: "4321", turnId: TURN, item: { id: "c" } }]);
    expect(next(idle)).toMatchObject([{ kind: "command", itemId: "c", processId: "4321" }]);
  });

  it("completes its item with the id of its own turn, however late, and once", () => {
    const end: Command = { kind: "endCommand", at: 9, itemId: "c", end: { exitCode: 0, output: "done\n" } };
    const { records, state } = decided(idle, end);
    expect(records).toMatchObject([
      {
        type: "terminalEnded",
        turnId: TURN,
        item: { id: "c", status: "completed", exitCode: 0, aggregatedOutput: "done\n", durationMs: 6 },
      },
    ]);
    expect(next(state)).toEqual([]);
    expect(decided(state, end).records).toEqual([]);
  });

  it("is ended with the text that clients have seen when the thread is unloaded", () => {
    const shown = new Map([["c", "so far"]]);
    const { records, state } = decided(idle, { kind: "close", at: 9, reason: "requested" }, shown);
    expect(types(records)).toEqual(["terminalEnded", "closed"]);
    expect(records[0]).toMatchObject({
      item: { status: "failed", exitCode: -1, aggregatedOutput: "so far" },
    });
    expect(state.terminals).toEqual([]);
  });

  it.each(["open", "adopt"] as const)(
    "is ended with what was saved of it when its host is gone (%s)",
    (kind) => {
      const saved = after(idle, { kind: "saveText", turnId: TURN, itemId: "c", text: "saved" });
      const take = { kind, at: 9, changes: {}, load: {}, docs: [] } as Command;
      const { records, state } = decided(saved, take);
      const ended = records.find(({ type }) => type === "terminalEnded");
      expect(ended).toMatchObject({
        item: { status: "failed", aggregatedOutput: "saved" },
        note: expect.stringContaining("session ID 4321"),
      });
      expect(state.terminals).toEqual([]);
    },
  );

  it("stays when its turn is interrupted", () => {
    const { state } = decided(withTerminal, { kind: "interrupt", at: 9, turnId: null });
    expect(state.turn).toBeNull();
    expect(state.terminals).toHaveLength(1);
  });

  it("shows what is written to it before that is written", () => {
    const asked = after(withTerminal, calls("w"));
    const write: CallStep = { kind: "dispatch", again: false, input: { processId: "4321", stdin: "y\n" } };
    const { records } = decided(asked, step("proposed", write, "w"));
    expect(types(records)).toEqual(["toolDispatched", "terminalInput"]);
    expect(records.at(-1)).toMatchObject({ itemId: "c", processId: "4321", stdin: "y\n", turnId: TURN });
  });

  it("ends in the commit of the call that saw it end, without a note", () => {
    const asked = after(withTerminal, calls("w"), step("proposed", { kind: "dispatch", again: false }, "w"));
    const ended = { processId: "4321", end: { exitCode: 3, output: "x" } };
    const settle: CallStep = { kind: "settle", output: "ended", success: true, ended };
    const { records, state } = decided(asked, step("dispatched", settle, "w"));
    expect(types(records)).toEqual(["terminalEnded", "toolAnswered"]);
    expect(records[0]).toMatchObject({ item: { status: "failed", exitCode: 3 } });
    expect(records[0]).not.toHaveProperty("note");
    expect(state.terminals).toEqual([]);
  });
});

describe("a command that its call waits for", () => {
  it("completes before its turn does when that is interrupted, with the text that clients have seen", () => {
    const { records } = decided(
      dispatched,
      { kind: "interrupt", at: 9, turnId: null },
      new Map([["c", "half"]]),
    );
    expect(types(records)).toEqual(["itemCompleted", "callCancelled", "turnEnded"]);
    expect(records.find(({ type }) => type === "itemCompleted")).toMatchObject({
      item: { id: "c", status: "failed", exitCode: -1, aggregatedOutput: "half" },
    });
  });
});

describe("the end of a command", () => {
  const end = (itemId: string): Command => ({
    kind: "endCommand",
    at: 8,
    itemId,
    end: { exitCode: 0, output: "" },
  });

  it("has no effect on one that is unknown or that its call waits for", () => {
    expect(decided(dispatched, end("unknown")).records).toEqual([]);
    expect(decided(dispatched, end("c")).records).toEqual([]);
    expect(decided(newThread(), end("c")).records).toEqual([]);
  });
});

describe("a command that is left running", () => {
  const shell = command("i", "userShell");
  const message = { type: "agentMessage", id: "m", text: "" } as unknown as CommandItem;
  const running = after(newThread(), startTurn());
  const open = { ...running, turn: { ...running.turn!, open: [command("c", "agent"), shell, message] } };
  const leave = (itemId: string): ThreadRecord => ({
    type: "terminalLeft",
    turnId: TURN,
    at: 5,
    processId: "77",
    itemId,
    outside: true,
  });

  it("moves with its saved output from the turn to the thread; the other items stay", () => {
    const saved = { c: "half", m: "text", i: "out" };
    const state = fold({ ...open, turn: { ...open.turn, saved } }, leave("c"));
    const item = { ...command("c", "unifiedExecStartup"), processId: "77" };
    expect(state.terminals).toEqual([{ processId: "77", turnId: TURN, item, outside: true, saved: "half" }]);
    expect(state.turn).toMatchObject({ open: [shell, message], saved: { m: "text", i: "out" } });
    expect(state.turn?.saved).not.toHaveProperty("c");
    const both = fold(state, leave("i"));
    expect(both.terminals[1]).toMatchObject({ item: { source: "userShell" }, saved: "out" });
    expect(both.turn?.open).toEqual([message]);
  });

  it("is no terminal if it is no command, or of another turn", () => {
    const unchanged = { ...open, lastAt: 5 };
    expect(fold(open, leave("m"))).toEqual(unchanged);
    expect(fold(open, leave("unknown"))).toEqual(unchanged);
    expect(fold(open, { ...leave("c"), turnId: "turn-0" } as ThreadRecord)).toEqual(unchanged);
  });

  it("saves its own output among several", () => {
    const state = fold(fold(open, leave("c")), { ...leave("i"), processId: "78" } as ThreadRecord);
    const saved = withSavedOutput(state, "i", "more");
    expect(saved?.terminals.map(({ saved }) => saved)).toEqual(["", "more"]);
    expect(withSavedOutput(state, "m", "more")).toBeUndefined();
    const ended = { type: "terminalEnded", turnId: TURN, at: 6, processId: "77" } as ThreadRecord;
    expect(fold(state, ended).terminals.map(({ processId }) => processId)).toEqual(["78"]);
  });

  it("is the user's own at the end of a turn", () => {
    expect(leaveShells(open.turn, 9)).toEqual([
      { type: "terminalLeft", turnId: TURN, at: 9, processId: "i", itemId: "i", outside: true },
    ]);
  });

  it("is the last of the user's commands in its turn, whatever else is open", () => {
    const turn = after(newThread(), { kind: "startShell", at: 3, turnId: "s", item: shell }).turn!;
    const ended = (...items: readonly CommandItem[]) =>
      types(
        decided(
          { ...newThread(), turn: { ...turn, open: items } },
          { kind: "endCommand", at: 8, itemId: "i", end: { exitCode: 0, output: "" } },
        ).records,
      );
    expect(ended(shell, message)).toEqual(["itemCompleted", "turnEnded"]);
    expect(ended(shell, command("j", "userShell"))).toEqual(["itemCompleted"]);
  });
});

describe("a command of the user", () => {
  const shell: Command = { kind: "startShell", at: 3, turnId: "s", item: command("i", "userShell") };
  const end: Command = { kind: "endCommand", at: 8, itemId: "i", end: { exitCode: 3, output: "err" } };

  it("has a turn of its own in which no model is called", () => {
    const state = after(newThread(), shell);
    expect(state.turn).toMatchObject({ id: "s" });
    expect(next(state)).toMatchObject([{ kind: "command", itemId: "i", turnId: "s" }]);
    const ended = decided(state, end);
    expect(types(ended.records)).toEqual(["itemCompleted", "turnEnded"]);
    expect(ended.records[0]).toMatchObject({ item: { status: "failed", exitCode: 3 } });
    expect(ended.records.at(-1)).toMatchObject({ turnId: "s", status: "completed" });
  });

  it("joins a turn that runs, and does not end it", () => {
    const state = after(dispatched, shell);
    expect(state.turn?.open.map(({ id }) => id)).toEqual(["c", "i"]);
    expect(types(decided(state, end).records)).toEqual(["itemCompleted"]);
  });

  it("goes on as a background terminal when the turn that it joined ends", () => {
    const state = after(newThread(), startTurn(), shell, spoken);
    expect(state.turn).toBeNull();
    expect(state.terminals).toMatchObject([{ item: { id: "i" }, turnId: TURN }]);
    expect(types(decided(state, end).records)).toEqual(["terminalEnded"]);
  });

  it("is ended by an interrupt", () => {
    const state = after(newThread(), shell);
    const { records, state: ended } = decided(state, { kind: "interrupt", at: 9, turnId: null });
    expect(types(records)).toEqual(["itemCompleted", "turnEnded"]);
    expect(next(ended)).toEqual([]);
  });

  it("gives its turn to the model when the user says something meanwhile", () => {
    const state = after(newThread(), shell, startTurn("other", 4));
    expect(state.turn).toMatchObject({ id: "s", attempt: 1 });
    expect(next(state).map(({ kind }) => kind)).toEqual(["sample", "command"]);
    expect(types(decided(state, end).records)).toEqual(["itemCompleted"]);
  });

  it("is lost with its host, and so is its turn", () => {
    const state = after(newThread(), shell);
    const { records } = decided(state, { kind: "adopt", at: 9 });
    expect(types(records)).toEqual(["adopted", "itemCompleted", "turnEnded"]);
  });
});
