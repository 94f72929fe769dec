// Commands where nothing can confine them: on the real program, with a local model.
import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asked, commandStage, WRITES } from "../support/command-stage.ts";
import { freshFolder } from "../support/folder.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

describe("a machine without a sandbox", () => {
  /** A folder of programs in which bubblewrap is missing. */
  async function withoutBubblewrap(): Promise<Record<string, string>> {
    const folder = await freshFolder();
    for (const name of ["sh", "bash", "touch"]) await symlink(`/bin/${name}`, join(folder, name));
    return { PATH: folder };
  }

  it("[SANDBOX-3] requires approval for every command that no rule allows, and names this reason", async () => {
    const { client, threadId, cwd } = await commandStage(
      [run({ cmd: "touch a" }), run({ cmd: "touch b" }, "call_2"), say("done")],
      WRITES,
      await withoutBubblewrap(),
    );
    const turnId = await client.say(threadId, "go");
    const first = await asked(client);
    expect(first.params.reason).toBe("It runs without a sandbox: bubblewrap is not installed");
    client.send({ id: first.id, result: { decision: "decline" } });
    client.send({ id: (await asked(client, { nth: 2 })).id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([false, true]);
    const { data } = await client.refusal("command/exec", { command: ["true"] });
    expect(data.code).toBe("sandboxUnavailable");
  });

  it("[SANDBOX-3] runs nothing if no approval can be asked for, and says why", async () => {
    const { model, client, threadId, cwd } = await commandStage(
      [run({ cmd: "touch a" }), run({ cmd: "touch b" }, "call_2"), say("done")],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "never"'],
      await withoutBubblewrap(),
    );
    await client.turn(threadId, "go");
    expect(outputOf(model)).toContain("it cannot be confined, because bubblewrap is not installed");
    expect(existsSync(join(cwd, "a"))).toBe(false);
    // Clients see no item of a refused command, so they are warned, once per thread.
    const warnings = client.told("warning").map(({ params }) => params.message as string);
    expect(warnings.filter((text) => text.includes("bubblewrap is not installed"))).toHaveLength(1);
  });

  it("[CLI-6] gives people advice that helps there", async () => {
    const env = await withoutBubblewrap();
    const declined = await runBobbin(["exec", "run: touch a"], { env });
    expect(declined.stderr).toContain("With --approve it is approved. Without a sandbox --full-auto refuses");
    expect(declined.stderr).not.toContain("need no approval");
    const refused = await runBobbin(["exec", "--full-auto", "run: touch a"], { env });
    expect(refused.stderr).toMatch(
      /warning: Commands are refused, .*: bubblewrap is not installed\. `bobbin doctor`/,
    );
  });
});
