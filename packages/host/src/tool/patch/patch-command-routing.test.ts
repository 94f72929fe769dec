import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { Invocation, Tool } from "../tool.ts";
import { withPatches } from "./patch-command-routing.ts";

const PATCH = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";

/** A tool that records its calls. */
function noting(name: string, calls: unknown[]): Tool {
  const note =
    (step: string) =>
    ({ args, thread }: Invocation) => {
      const { cwd, roots } = thread.settings;
      calls.push([name, step, args, cwd, roots]);
      return { kind: "settle", output: "", success: true } as const;
    };
  return {
    name,
    namespace: null,
    spec: null,
    begin: note("begin"),
    heard: note("heard"),
    perform: async (invocation) => note("perform")(invocation),
  };
}

async function allSteps(args: object): Promise<unknown[]> {
  const calls: unknown[] = [];
  const tool = withPatches(noting("exec_command", calls), noting("apply_patch", calls));
  const invocation = { thread: newThread(), args } as unknown as Invocation;
  await tool.begin(invocation);
  await tool.heard!(
    invocation,
    { name: "approval", method: "item/fileChange/requestApproval" },
    { kind: "cleared" },
  );
  await (tool.perform as (one: Invocation) => Promise<unknown>)(invocation);
  return calls;
}

describe("a command that is a patch", () => {
  it("[PATCH-12] is a call of the patch tool at every step, in its folder and the same workspace", async () => {
    const cmd = `cd sub && apply_patch <<'EOF'\n${PATCH}EOF\n`;
    expect(await allSteps({ cmd, workdir: "inner" })).toEqual(
      ["begin", "heard", "perform"].map((step) => [
        "apply_patch",
        step,
        { input: PATCH },
        "/work/inner/sub",
        ["/work"],
      ]),
    );
  });

  it("is a command if it does anything else", async () => {
    const args = { cmd: `echo x && apply_patch <<'EOF'\n${PATCH}EOF\n` };
    expect(await allSteps(args)).toEqual(
      ["begin", "heard", "perform"].map((step) => ["exec_command", step, args, "/work", undefined]),
    );
  });
});
