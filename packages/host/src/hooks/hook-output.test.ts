import { describe, expect, it } from "vitest";
import type { HookEvent } from "./hook-events.ts";
import { type HookExit, readExit } from "./hook-output.ts";

const exit = (stdout: string | object, more: Partial<HookExit> = {}): HookExit => ({
  code: 0,
  stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
  stderr: "",
  error: null,
  ...more,
});
const specific = (event: string, fields: object) => ({
  hookSpecificOutput: { hookEventName: event, ...fields },
});

describe("what a hook says", () => {
  it.each<[HookEvent, HookExit, object]>([
    ["preToolUse", exit(""), { status: "completed", entries: [] }],
    ["preToolUse", exit("just words"), { status: "completed", entries: [] }],
    ["preToolUse", exit({ decision: "block", reason: " no " }), { status: "blocked", block: "no" }],
    [
      "preToolUse",
      exit(specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "no" })),
      { status: "blocked", block: "no" },
    ],
    [
      "preToolUse",
      exit(specific("PreToolUse", { permissionDecision: "allow", updatedInput: { command: "ls" } })),
      { status: "completed", input: { command: "ls" } },
    ],
    ["preToolUse", exit("", { code: 2, stderr: "never\n" }), { status: "blocked", block: "never" }],
    ["preToolUse", exit("", { code: 2 }), { status: "failed" }],
    ["preToolUse", exit("", { code: 1, stderr: "broken" }), { status: "failed" }],
    ["preToolUse", exit({ continue: false }), { status: "failed" }],
    ["preToolUse", exit({ decision: "block" }), { status: "failed" }],
    ["preToolUse", exit({ decison: "block", reason: "x" }), { status: "failed" }],
    ["preToolUse", exit("{ no json"), { status: "failed" }],
    ["preToolUse", exit("", { error: "It took too long." }), { status: "failed" }],
    ["userPromptSubmit", exit("Mind the gap.\n"), { status: "completed", context: "Mind the gap." }],
    [
      "userPromptSubmit",
      exit({ ...specific("UserPromptSubmit", { additionalContext: "more" }), systemMessage: "careful" }),
      {
        status: "completed",
        context: "more",
        entries: [
          { kind: "warning", text: "careful" },
          { kind: "context", text: "more" },
        ],
      },
    ],
    ["userPromptSubmit", exit({ continue: false, stopReason: "late" }), { status: "stopped", stop: true }],
    ["userPromptSubmit", exit({ decision: "block", reason: "no" }), { status: "blocked", block: "no" }],
    ["postToolUse", exit({ decision: "block", reason: "bad" }), { status: "blocked", feedback: "bad" }],
    [
      "postToolUse",
      exit({ continue: false, stopReason: "enough" }),
      { status: "stopped", feedback: "enough" },
    ],
    ["postToolUse", exit({ reason: "alone" }), { status: "failed" }],
    ["stop", exit({ decision: "block", reason: "go on" }), { status: "blocked", block: "go on" }],
    ["stop", exit("words"), { status: "failed" }],
    ["stop", exit({ continue: false }), { status: "stopped", stop: true }],
    ["sessionStart", exit("hello"), { status: "completed", context: "hello" }],
    ["subagentStart", exit({ continue: false }), { status: "completed" }],
    ["preCompact", exit({ continue: false }), { status: "stopped", stop: true }],
    ["sessionEnd", exit("anything {"), { status: "completed" }],
    [
      "permissionRequest",
      exit(specific("PermissionRequest", { decision: { behavior: "allow" } })),
      { status: "completed", permission: { allow: true, message: "" } },
    ],
    [
      "permissionRequest",
      exit(specific("PermissionRequest", { decision: { behavior: "deny", message: "no" } })),
      { status: "blocked", permission: { allow: false, message: "no" } },
    ],
    [
      "permissionRequest",
      exit(specific("PermissionRequest", { decision: { behavior: "allow", interrupt: true } })),
      { status: "failed" },
    ],
  ])("%s: %j", (event, given, expected) => {
    expect(readExit(event, given, true)).toMatchObject(expected);
  });

  it("decides nothing if nobody waits for it, and is heard all the same", () => {
    const said = exit({
      decision: "block",
      reason: "no",
      ...specific("UserPromptSubmit", { additionalContext: "more" }),
    });
    expect(readExit("userPromptSubmit", said, false)).toEqual({
      status: "completed",
      entries: [{ kind: "context", text: "more" }],
      context: "more",
    });
    expect(readExit("preToolUse", exit("", { code: 2, stderr: "no" }), false).status).toBe("failed");
  });
});
