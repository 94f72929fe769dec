// How commands are ended: they are asked first, so that they can remove what they must not leave behind.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { withMark } from "../support/processes.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

/** Like git: it makes a lock file, and removes it when it is asked to end. */
const TIDY = `trap 'rm lock; exit 0' TERM; echo > lock; while :; do sleep 0.05; done`;
/** It does not listen. */
const STUBBORN = `trap '' TERM; echo > lock; while :; do sleep 0.05; done`;

async function stage(script: string, sandbox: string, args: object = {}) {
  const model = await MockModel.start(
    stream(
      responses.stream(
        responses.call("exec_command", JSON.stringify({ cmd: "exec sh script", login: false, ...args })),
      ),
    ),
    stream(responses.stream(responses.message("It runs."))),
  );
  const { home, cwd } = await modelHome("responses", model.url, {
    top: [`sandbox_mode = "${sandbox}"`, 'shell_environment_policy.set = { GENTLE = "here" }'],
  });
  await writeFile(join(cwd, "script"), script);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { SHELL: "/bin/bash" } });
  const client = await host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd });
  const lock = join(cwd, "lock");
  const isLocked = (): boolean => existsSync(lock);
  /** Nothing of this thread runs any more. */
  const gone = () => eventually(() => withMark(threadId).length === 0, "no process is left");
  return { host, client, threadId, isLocked, gone };
}

/** The host gives a command two seconds to clean up. On a busy machine the shell may not get to run in that time. */
const BUSY = { retry: 3 };

const SANDBOXES = ["danger-full-access", ...(hasSandbox ? ["workspace-write"] : [])];

describe.each(SANDBOXES)("a command under %s", (sandbox) => {
  it("[PROC-13] can clean up when its turn is interrupted", BUSY, async () => {
    const { client, threadId, isLocked, gone } = await stage(TIDY, sandbox);
    const turnId = await client.say(threadId, "go");
    await eventually(isLocked, "it runs");
    await client.call("turn/interrupt", { threadId, turnId });
    await gone();
    expect(isLocked()).toBe(false);
  });

  it("[PROC-13] is killed if it does not end when it is asked to", async () => {
    const { client, threadId, isLocked, gone } = await stage(STUBBORN, sandbox);
    const turnId = await client.say(threadId, "go");
    await eventually(isLocked, "it runs");
    await client.call("turn/interrupt", { threadId, turnId });
    await gone();
    expect(isLocked()).toBe(true);
  });

  it.each(["runs", "was interrupted"])(
    "[PROC-13] has ended when its thread is closed, although it ignores SIGTERM and its turn %s",
    async (how) => {
      const { client, threadId, isLocked } = await stage(STUBBORN, sandbox);
      const turnId = await client.say(threadId, "go");
      await eventually(isLocked, "it runs");
      if (how === "was interrupted") await client.call("turn/interrupt", { threadId, turnId });
      const left: number[] = [];
      const closed = client
        .waitFor(({ method }) => method === "thread/closed", "thread/closed")
        .then(() => left.push(withMark(threadId).length));
      await client.call("thread/unload", { threadId, interrupt: true });
      left.push(withMark(threadId).length);
      await closed;
      expect(left).toEqual([0, 0]);
    },
  );

  it("[PROC-13] can clean up when its thread is unloaded, and when the host ends", BUSY, async () => {
    for (const end of ["unload", "shutdown"]) {
      const { host, client, threadId, isLocked, gone } = await stage(TIDY, sandbox, { yield_time_ms: 250 });
      await client.turn(threadId, "go");
      await eventually(isLocked, "it runs");
      if (end === "unload") await client.call("thread/unload", { threadId });
      else host.signal("SIGTERM");
      await gone();
      expect(isLocked(), end).toBe(false);
    }
  });
});
