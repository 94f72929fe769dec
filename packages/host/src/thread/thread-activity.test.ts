import { expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../test/support/test-thread.ts";
import type { TerminalState } from "../core/terminals/records.ts";
import { activityOf } from "./thread-activity.ts";

const terminal = (source: "unifiedExecStartup" | "userShell"): TerminalState =>
  ({
    processId: source === "userShell" ? "item" : "77",
    turnId: "turn-1",
    item: { type: "commandExecution", id: "item", source },
    outside: false,
    saved: "",
  }) as unknown as TerminalState;

it.each(["unifiedExecStartup", "userShell"] as const)(
  "does not include a background terminal, whoever started its command (%s)",
  (source) => {
    const state = { ...newThread(), terminals: [terminal(source)] };
    expect(activityOf(state)).toMatchObject({ busy: false, waits: false, turnId: undefined });
    expect(activityOf(after(state, startTurn())).busy).toBe(true);
  },
);
