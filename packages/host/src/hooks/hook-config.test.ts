import { describe, expect, it } from "vitest";
import { hookDigest, hookKey, readHooks } from "./hook-config.ts";
import { matches } from "./matcher.ts";
import { toolUse, withInput } from "./tool-call-for-hooks.ts";

const command = (more: object = {}) => ({ type: "command", command: "check", ...more });

describe("configured hooks", () => {
  it("are read with their defaults", () => {
    const { hooks, warnings } = readHooks(
      {
        PreToolUse: [{ matcher: "Bash", hooks: [command(), command({ timeout: 5n, async: true })] }],
        Stop: [{ matcher: "ignored", hooks: [command({ statusMessage: "Checking" })] }],
        SessionEnd: [{ hooks: [command({ timeout: 60 })] }],
        state: {},
      },
      "/h/hooks.json",
    );
    expect(warnings).toEqual([]);
    expect(hooks).toMatchObject([
      { event: "preToolUse", matcher: "Bash", timeoutSec: 600, async: false, group: 0, index: 0 },
      { event: "preToolUse", matcher: "Bash", timeoutSec: 5, async: true, group: 0, index: 1 },
      { event: "sessionEnd", matcher: null, timeoutSec: 3 },
      { event: "stop", matcher: null, statusMessage: "Checking" },
    ]);
    expect(hookKey("/h/hooks.json", hooks[1]!)).toBe("/h/hooks.json:pre_tool_use:0:1");
  });

  it.each([
    [[], "is not a table"],
    [{ Stop: 1 }, "hooks.Stop is not a list"],
    [{ Stop: [{}] }, "hooks.Stop[0] has no list of hooks"],
    [{ Stop: [{ hooks: [{ type: "prompt" }] }] }, 'has the type "prompt"'],
    [{ Stop: [{ hooks: [{ type: "command", command: " " }] }] }, "has no command"],
    [{ PreToolUse: [{ matcher: "(", hooks: [command()] }] }, "is not a regular expression"],
    [{ Stpo: [] }, 'hooks for "Stpo" are not run'],
  ])("that are wrong are left out with a warning: %j", (table, warning) => {
    const read = readHooks(table, "/h");
    expect(read.hooks).toEqual([]);
    expect(read.warnings.join()).toContain(warning);
  });

  it("have the digests of the Codex CLI", () => {
    const group = { matcher: "Bash", hooks: [command({ statusMessage: "S" })] };
    // Recorded from the Codex CLI 0.166.0.
    expect(hookDigest(readHooks({ PreToolUse: [group] }, "/h").hooks[0]!)).toBe(
      "sha256:efad597cda5b6ea70c443fe9e09935c7234b12c8e2c8cd509c6cbdd50a8913d2",
    );
  });

  it("have a digest of what they do, which changes with it", () => {
    const digest = (table: object) => hookDigest(readHooks(table, "/h").hooks[0]!);
    const one = digest({ PreToolUse: [{ matcher: "Bash", hooks: [command()] }] });
    expect(digest({ PreToolUse: [{ hooks: [command({ timeout: 600 })], matcher: "Bash" }] })).toBe(one);
    expect(digest({ PreToolUse: [{ matcher: "Bash", hooks: [command({ command: "other" })] }] })).not.toBe(
      one,
    );
    expect(digest({ PostToolUse: [{ matcher: "Bash", hooks: [command()] }] })).not.toBe(one);
  });
});

describe("a matcher", () => {
  it.each([
    [null, ["Bash"], true],
    ["*", ["Bash"], true],
    ["", [], true],
    ["Bash|apply_patch", ["apply_patch"], true],
    ["Bas", ["Bash"], false],
    ["Edit", ["apply_patch", "Write", "Edit"], true],
    ["mcp__.*__read", ["mcp__files__read"], true],
    ["^x", ["ax"], false],
  ])("%j fits %j: %j", (matcher, names, fits) => {
    expect(matches(matcher, names)).toBe(fits);
  });
});

describe("a call of a tool, as hooks see it", () => {
  const call = (
    name: string,
    args: string,
    kind: "function" | "custom" = "function",
    namespace: string | null = null,
  ) => ({ callId: "c", name, namespace, arguments: args, kind }) as const;

  it("is a command, a patch, or what the model wrote", () => {
    expect(toolUse(call("exec_command", '{"cmd":"ls","tty":true}'))).toMatchObject({
      name: "Bash",
      input: { command: "ls" },
    });
    expect(toolUse(call("apply_patch", "*** Begin", "custom"))).toMatchObject({
      name: "apply_patch",
      aliases: ["Write", "Edit"],
      input: { command: "*** Begin" },
    });
    expect(toolUse(call("read", '{"a":1}', "function", "mcp__files"))).toMatchObject({
      name: "mcp__files__read",
      input: { a: 1 },
    });
    expect(toolUse(call("write_stdin", "{}"))).toBeUndefined();
    expect(toolUse(call("exec_command", "no json"))).toBeUndefined();
  });

  it("takes other input in the same form", () => {
    expect(withInput(call("exec_command", '{"cmd":"rm","tty":true}'), { command: "ls" })).toBe(
      '{"cmd":"ls","tty":true}',
    );
    expect(withInput(call("exec_command", '{"cmd":"rm"}'), { cmd: "ls" })).toBeUndefined();
    expect(withInput(call("apply_patch", "old", "custom"), { command: "new" })).toBe("new");
    expect(withInput(call("lookup", "{}"), { a: 1 })).toBe('{"a":1}');
    expect(withInput(call("lookup", "{}"), "text")).toBeUndefined();
  });
});
