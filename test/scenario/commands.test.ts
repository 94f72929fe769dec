// exec_command and write_stdin on the real program, with real processes and a local model.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandStage, commandStage, hostOf } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import type { Reply } from "../support/mock-model.ts";
import { callTool, outputOf, run, say } from "../support/model-replies.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const write = (args: object, callId: string): Reply => callTool("write_stdin", args, callId);

const FULL = ['sandbox_mode = "danger-full-access"', 'approval_policy = "on-request"'];

const stage = (replies: readonly Reply[], env?: Record<string, string>): Promise<CommandStage> =>
  commandStage(replies, FULL, env);

/** What became of a turn, in short: commands, questions and ends; output in one piece. */
function story(frames: readonly Received[]): string[] {
  const all: string[] = [];
  for (const { method, params } of frames) {
    if (method === "item/commandExecution/requestApproval") all.push("asked");
    else if (method === "serverRequest/resolved") all.push("resolved");
    else if (method === "turn/started") all.push("turn started");
    else if (method === "turn/completed") all.push(`turn ${params.turn.status}`);
    else if (method === "item/commandExecution/terminalInteraction") all.push(`input ${params.stdin}`);
    else if (method === "item/commandExecution/outputDelta") {
      if (all.at(-1) !== "output") all.push("output");
    } else if (params?.item?.type === "commandExecution") all.push(`${method} ${params.item.status}`);
  }
  return all;
}

function items(client: WireClient, method = "item/completed") {
  return client
    .told(method)
    .map(({ params }) => params.item)
    .filter(({ type }) => type === "commandExecution");
}

const deltas = (client: WireClient): string =>
  client
    .told("item/commandExecution/outputDelta")
    .map(({ params }) => params.delta)
    .join("");

/** Processes whose command line holds a mark. */
async function processesWith(mark: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const words = line.split("\0");
    if (words[0] === "sleep" && words[1] === mark) found.push(pid);
  }
  return found;
}

let marks = 0;
/** Seconds that nobody else sleeps. */
const mark = (): string => `${9_000_000 + process.pid}.${++marks}`;

async function terminalId(client: WireClient, threadId: string): Promise<string> {
  const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
  return data[0].processId;
}

describe("a command of the model", () => {
  it.each([
    ["`cmd` is empty", { cmd: "" }],
    ["`cmd` is empty", { cmd: " \n" }],
    ["`shell` is empty", { cmd: "ls", shell: "" }],
    ["`cmd` must not contain the character NUL", { cmd: "ls \0" }],
    ["`workdir` must not contain the character NUL", { cmd: "ls", workdir: "/tmp/\0" }],
    ["`shell` must not contain the character NUL", { cmd: "ls", shell: "/bin/sh\0" }],
  ])("[EXEC-2] is refused with a reason: %s", async (words, args) => {
    const { model, client, threadId } = await stage([run(args), say("understood")]);
    await client.turn(threadId, "go");
    expect(outputOf(model, 1)).toContain(`The command was not run: ${words}`);
    expect(items(client, "item/started")).toEqual([]);
  });

  it("[EXEC-1] runs, shows its output while it runs, and the model gets it", async () => {
    const { model, client, threadId, cwd } = await stage([run({ cmd: "echo hi && ls a*" }), say("done")]);
    await writeFile(join(cwd, "a.txt"), "");
    const from = client.frames.length;
    await client.turn(threadId, "run it");
    expect(story(client.frames.slice(from))).toEqual([
      "turn started",
      "item/started inProgress",
      "output",
      "item/completed completed",
      "turn completed",
    ]);
    const [started] = items(client, "item/started");
    expect(started).toMatchObject({
      id: "call_1",
      command: "/bin/bash -c 'echo hi && ls a*'",
      cwd,
      source: "unifiedExecStartup",
      processId: expect.stringMatching(/^\d+$/),
      commandActions: [{ type: "unknown", command: "echo hi && ls a*" }],
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
    });
    const [item] = items(client);
    expect(item).toMatchObject({ id: "call_1", exitCode: 0, aggregatedOutput: "hi\na.txt\n" });
    expect(item.durationMs).toBeGreaterThanOrEqual(0);
    expect(deltas(client)).toBe("hi\na.txt\n");
    expect(outputOf(model, 1)).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nhi\na\.txt\n$/,
    );
  });

  it("[EXEC-2] that fails is shown as failed, with its exit code", async () => {
    const { model, client, threadId } = await stage([run({ cmd: "echo no >&2; exit 3" }), say("done")]);
    await client.turn(threadId, "run it");
    expect(items(client)).toMatchObject([{ status: "failed", exitCode: 3, aggregatedOutput: "no\n" }]);
    expect(outputOf(model, 1)).toContain("exited with code 3");
  });

  it("[EXEC-2] that cannot be started is shown as failed, with the reason", async () => {
    const { model, client, threadId } = await stage([
      run({ cmd: "true", shell: "/opt/homebrew/bin/mksh" }),
      run({ cmd: "true", workdir: "/nowhere" }, "call_2"),
      say("done"),
    ]);
    await client.turn(threadId, "run it");
    expect(items(client)).toMatchObject([{ status: "failed" }, { status: "failed" }]);
    expect(outputOf(model, 1)).toMatch(/exec_command failed: .*ENOENT/);
    expect(outputOf(model, 2)).toMatch(/exec_command failed: .*\/nowhere/);
  });

  it("[EXEC-3] gets no secret of the host, and no variable that looks like one", async () => {
    const env = { KEY: "sk-host", MY_TOKEN: "t", PLAIN: "p" };
    const { client, threadId } = await stage([run({ cmd: "env" }), say("done")], env);
    await client.turn(threadId, "run it");
    const [{ aggregatedOutput }] = items(client);
    expect(aggregatedOutput).toContain("PLAIN=p");
    expect(aggregatedOutput).toContain("NO_COLOR=1");
    expect(aggregatedOutput).not.toMatch(/sk-host|MY_TOKEN/);
  });

  it("[EXEC-4] with a long output is truncated in the middle for the model, and complete in a file", async () => {
    const { model, client, threadId } = await stage([
      run({ cmd: "seq 1 100000", max_output_tokens: 100 }),
      say("done"),
    ]);
    await client.turn(threadId, "run it");
    const output = outputOf(model, 1);
    expect(output.length).toBeLessThan(1500);
    const path = /the whole output is in (\S+)/.exec(output)![1]!;
    expect(await readFile(path, "utf8")).toBe(
      `${Array.from({ length: 100_000 }, (_, nth) => nth + 1).join("\n")}\n`,
    );
    expect(deltas(client)).toHaveLength(588_895);
    await client.call("thread/delete", { threadId });
    await eventually(() => !existsSync(path), "the file goes with its thread");
  });

  it("[EXEC-4] with a short output that is truncated for the model is complete in a file, too", async () => {
    const { model, client, threadId } = await stage([
      run({ cmd: "seq 1 2000", max_output_tokens: 100 }),
      run({ cmd: "seq 1 20", max_output_tokens: 100 }, "call_2"),
      say("done"),
    ]);
    await client.turn(threadId, "run it");
    const path = /the whole output is in (\S+)/.exec(outputOf(model, 1))![1]!;
    expect(await readFile(path, "utf8")).toBe(
      `${Array.from({ length: 2000 }, (_, nth) => nth + 1).join("\n")}\n`,
    );
    expect(outputOf(model, 2)).not.toContain("is in");
    expect(await readdir(dirname(path))).toEqual([".order", "call_1.txt"]);
  });

  it("[EXEC-5] ends with all that it started when its turn is interrupted", async () => {
    const one = mark();
    const two = mark();
    const { client, threadId } = await stage([
      run({ cmd: `sleep ${one} & sleep ${two}`, yield_time_ms: 30_000 }),
    ]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "run it");
    await eventually(async () => (await processesWith(two)).length === 1, "the command runs");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "turn started",
      "item/started inProgress",
      "item/completed failed",
      "turn interrupted",
    ]);
    await eventually(
      async () => (await processesWith(one)).length + (await processesWith(two)).length === 0,
      "no process is left",
    );
  });
});

describe("a background terminal", () => {
  it("[EXEC-6] goes on after its call, takes input on a terminal, and completes its item once", async () => {
    const { model, client, threadId } = await stage([
      run({ cmd: "echo start; read x; echo got:$x; exit 4", tty: true, yield_time_ms: 300 }),
      say("left running"),
    ]);
    await client.turn(threadId, "run it");
    const processId = await terminalId(client, threadId);
    expect(outputOf(model, 1)).toContain(`\nProcess running with session ID ${processId}\n`);
    expect(items(client)).toEqual([]);
    model.reply(
      write({ session_id: Number(processId), chars: "hello\n", yield_time_ms: 10_000 }, "call_2"),
      write({ session_id: Number(processId), chars: "again\n" }, "call_3"),
      say("done"),
    );
    const from = client.frames.length;
    const asked = model.asked.length;
    await client.turn(threadId, "write");
    const frames = client.frames.slice(from);
    expect(story(frames).filter((line) => line !== "output")).toEqual([
      "turn started",
      "input hello\n",
      "item/completed failed",
      "turn completed",
    ]);
    const [item] = items(client);
    expect(item).toMatchObject({ id: "call_1", exitCode: 4, processId });
    expect(item.aggregatedOutput).toMatch(/start\r\n[\s\S]*got:hello\r\n$/);
    const completed = frames.find(({ params }) => params?.item?.id === "call_1")!;
    const started = client.told("item/started").find(({ params }) => params.item.id === "call_1")!;
    expect(completed.params.turnId).toBe(started.params.turnId);
    expect(outputOf(model, asked + 1)).toMatch(/exited with code 4[\s\S]*got:hello/);
    expect(outputOf(model, asked + 2)).toMatch(/write_stdin failed: Unknown process id/);
    expect((await client.call("thread/backgroundTerminals/list", { threadId })).data).toEqual([]);
    // A page of the history shows the item as it ended, in the turn that it began in.
    const { data } = await client.call("thread/turns/list", {
      threadId,
      sortDirection: "asc",
      itemsView: "full",
    });
    const shown = data[0].items.find(({ id }: { id: string }) => id === "call_1");
    expect(shown).toMatchObject({ status: "failed", exitCode: 4 });
  });

  it("[EXEC-7] is listed, terminated and cleaned up, and the model is notified", async () => {
    const one = mark();
    const two = mark();
    const { model, client, threadId, cwd } = await stage([
      run({ cmd: `sleep ${one}`, yield_time_ms: 250 }),
      run({ cmd: `sleep ${two}`, yield_time_ms: 250 }, "call_2"),
      say("left running"),
    ]);
    const turnId = await client.turn(threadId, "run it");
    const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
    expect(data).toMatchObject([
      { itemId: "call_1", command: `sleep ${one}`, cwd, cpuPercent: null, rssKb: null },
      { itemId: "call_2", command: `sleep ${two}`, cwd },
    ]);
    const [{ processId }] = data;
    const terminate = { threadId, processId };
    expect(await client.call("thread/backgroundTerminals/terminate", terminate)).toEqual({
      terminated: true,
    });
    await eventually(() => items(client).length === 1, "its item completes");
    expect(items(client)).toMatchObject([{ id: "call_1", status: "failed", exitCode: -1 }]);
    expect(client.told("item/completed").at(-1)!.params.turnId).toBe(turnId);
    expect(await client.call("thread/backgroundTerminals/terminate", terminate)).toEqual({
      terminated: false,
    });
    await client.call("thread/backgroundTerminals/clean", { threadId });
    await eventually(() => items(client).length === 2, "the other one, too");
    expect((await client.call("thread/backgroundTerminals/list", { threadId })).data).toEqual([]);
    expect([...(await processesWith(one)), ...(await processesWith(two))]).toEqual([]);
    model.reply(say("I see"));
    await client.turn(threadId, "and now?");
    expect(JSON.stringify(model.asked.at(-1)!.body.input)).toMatch(/session ID \d+ was terminated/);
  });

  it("[EXEC-4] that ends by itself gives the model the ends of its output and the file with all of it", async () => {
    const { model, client, threadId, cwd } = await stage([
      run({ cmd: "until [ -e go ]; do sleep 0.1; done; seq 1 3000", yield_time_ms: 250 }),
      say("left running"),
    ]);
    await client.turn(threadId, "run it");
    await writeFile(join(cwd, "go"), "");
    await eventually(() => items(client).length === 1, "its item completes");
    model.reply(say("I see"));
    await client.turn(threadId, "and now?");
    const input = JSON.stringify(model.asked.at(-1)!.body.input);
    const path = /ended with exit code 0[^"]*the whole output is in (\S+)/.exec(input)![1]!;
    expect(await readFile(path, "utf8")).toBe(
      `${Array.from({ length: 3000 }, (_, nth) => nth + 1).join("\n")}\n`,
    );
  });

  it.each(["thread/unload", "thread/archive", "thread/delete"] as const)(
    "[EXEC-8] ends with its thread (%s)",
    async (method) => {
      const one = mark();
      const two = mark();
      const { client, threadId } = await stage([
        run({ cmd: `setsid sleep ${two} >/dev/null 2>&1 & sleep 0.5; echo left` }),
        run({ cmd: `sleep ${one}`, yield_time_ms: 250 }, "call_2"),
        say("ok"),
      ]);
      await client.turn(threadId, "run it");
      expect(await processesWith(one)).toHaveLength(1);
      expect(await processesWith(two)).toHaveLength(1);
      const from = client.frames.length;
      await client.call(method, { threadId });
      expect([...(await processesWith(one)), ...(await processesWith(two))]).toEqual([]);
      if (method !== "thread/delete") {
        await eventually(
          () => story(client.frames.slice(from)).includes("item/completed failed"),
          "its item completes",
        );
      }
    },
  );

  it("[EXEC-8] ends when its thread is unloaded in the middle of a turn, even if it ignores signals", async () => {
    const one = mark();
    const { client, threadId } = await stage([run({ cmd: `trap '' TERM; sleep ${one}; sleep ${one}` })]);
    const from = client.frames.length;
    await client.say(threadId, "run it");
    await eventually(async () => (await processesWith(one)).length === 1, "the command runs");
    await client.call("thread/archive", { threadId });
    expect(await processesWith(one)).toEqual([]);
    expect(story(client.frames.slice(from))).toEqual([
      "turn started",
      "item/started inProgress",
      "item/completed failed",
      "turn interrupted",
    ]);
  });

  it("[EXEC-8] ends with its host", async () => {
    const one = mark();
    const { host, client, threadId } = await stage([
      run({ cmd: `sleep ${one}`, yield_time_ms: 250 }),
      say("ok"),
    ]);
    await client.turn(threadId, "run it");
    host.signal("SIGTERM");
    await host.exited;
    expect(await processesWith(one)).toEqual([]);
  });

  it("[EXEC-9] is lost with a host that is killed: its item completes at the next load, and the model is notified", async () => {
    const one = mark();
    const first = await stage([run({ cmd: `sleep ${one}`, yield_time_ms: 250 }), say("ok")]);
    await first.client.turn(first.threadId, "run it");
    await first.host.kill();
    const { client } = await hostOf(first.home);
    const { threadId } = first;
    const { thread } = await client.call("thread/resume", { threadId });
    const shown = thread.turns[0].items.find(({ id }: { id: string }) => id === "call_1");
    expect(shown).toMatchObject({ status: "failed", exitCode: -1 });
    first.model.reply(say("I see"));
    await client.turn(threadId, "and now?");
    expect(JSON.stringify(first.model.asked.at(-1)!.body.input)).toMatch(/was terminated because/);
  });
});

describe("a command of the user", () => {
  it("[EXEC-10] has a turn of its own, and the model gets it with the next turn", async () => {
    const { model, client, threadId } = await stage([say("I saw it")]);
    const from = client.frames.length;
    const command = "echo out; echo err >&2; exit 3";
    expect(await client.call("thread/shellCommand", { threadId, command })).toEqual({});
    await client.waitFor(({ method }) => method === "turn/completed", "its turn ends");
    expect(story(client.frames.slice(from))).toEqual([
      "turn started",
      "item/started inProgress",
      "output",
      "item/completed failed",
      "turn completed",
    ]);
    expect(items(client)).toMatchObject([
      {
        command: `/bin/bash -lc '${command}'`,
        source: "userShell",
        processId: null,
        exitCode: 3,
        aggregatedOutput: expect.stringMatching(/^(out\nerr|err\nout)\n$/),
      },
    ]);
    expect(model.asked).toEqual([]);
    await client.turn(threadId, "what happened?");
    expect(JSON.stringify(model.asked[0]!.body.input)).toMatch(/echo out[\s\S]*Exit code: 3/);
  });

  it("[EXEC-10] joins the turn that runs", async () => {
    const waits = "until [ -e go ]; do sleep 0.05; done";
    const { client, threadId, cwd } = await stage([run({ cmd: waits, yield_time_ms: 30_000 }), say("done")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "run it");
    await eventually(() => items(client, "item/started").length === 1, "the model's command runs");
    await client.call("thread/shellCommand", { threadId, command: "echo during" });
    await eventually(() => items(client).length === 1, "the user's command has ended");
    await writeFile(join(cwd, "go"), "");
    await client.turnCompleted(turnId);
    expect(items(client)).toMatchObject([
      { source: "userShell", aggregatedOutput: "during\n" },
      { id: "call_1", source: "unifiedExecStartup" },
    ]);
    expect(story(client.frames.slice(from)).filter((line) => line.startsWith("turn"))).toEqual([
      "turn started",
      "turn completed",
    ]);
  });

  it("[EXEC-10] is refused if it is empty, and ended after its time", async () => {
    const { client, threadId } = await stage([]);
    expect(await client.refusal("thread/shellCommand", { threadId, command: "  " })).toMatchObject({
      message: "command must not be empty",
    });
    const { message } = await client.refusal("thread/shellCommand", { threadId, command: "ls \0" });
    expect(message).toContain("must not contain the character NUL");
    const one = mark();
    await client.call("thread/shellCommand", { threadId, command: `sleep ${one}`, timeoutMs: 0 });
    await client.waitFor(({ method }) => method === "turn/completed", "its turn ends");
    expect(items(client)).toMatchObject([{ status: "failed", exitCode: 124 }]);
    expect(await processesWith(one)).toEqual([]);
  });
});
