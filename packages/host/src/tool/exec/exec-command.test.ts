import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { execCommand } from "./exec-command.ts";

const call = {
  callId: "c",
  name: "exec_command",
  namespace: null,
  arguments: "{}",
  kind: "function",
} as const;
const invocation = {
  thread: newThread(),
  turnId: "t",
  call,
  args: { cmd: "make deploy" },
  startedAt: 0,
  now: 0,
};

describe("a command that was dispatched", () => {
  it.each([
    undefined,
    null,
    {},
    { processId: 1, outside: true },
    { processId: "1", outside: "no" },
    { processId: "1", outside: false, permissions: { network: true } },
  ])("[DAMAGE-3] is not run if its plan in the journal is damaged: %j", async (plan) => {
    // No port is used.
    const nothing = undefined as never;
    const tool = execCommand(nothing, nothing, nothing, nothing);
    const step = await tool.perform!({ ...invocation, plan }, new AbortController().signal, () => {});
    expect(step).toMatchObject({ success: false, output: expect.stringMatching(/^The journal is damaged/) });
  });
});
