// `server/logs/read` and `bobbin logs`.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment, spawnHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const LISTEN = ["--listen", "ws://127.0.0.1:0"];
const EXPERIMENTAL = { experimentalApi: true };

it("[TERM-7] sends the last lines, then those since a cursor, and no secret of the host", async () => {
  const home = await freshFolder("home");
  const planted = {
    env: "planted-environment-value-1",
    config: "planted-configuration-value-2",
    shape: "sk-proj-plantedshapevalue3plantedshapevalue3",
  };
  await writeFile(
    join(home, "config.toml"),
    `[model_providers.mine]\nname = "Mine"\nbase_url = "http://127.0.0.1:9/v1"\nhttp_headers = { "X-Any" = "${planted.config}" }\n`,
  );
  const host = await spawnHost({ home, args: LISTEN, env: { SHOP_TOKEN: planted.env } });
  for (const secret of Object.values(planted)) {
    const other = await host.connect();
    await other.call("initialize", { clientInfo: { name: `a ${secret} b`, version: "1" } });
  }
  const client = await host.join(undefined, EXPERIMENTAL);
  const first = await client.call("server/logs/read", {});
  expect(first.data[0]).toMatchObject({ level: "info", message: "listening", fields: { home } });
  const names = first.data
    .filter(({ message }: { message: string }) => message === "client connected")
    .map(({ fields }: { fields: { name: string } }) => fields.name);
  expect(names.slice(0, 3)).toEqual(Array(3).fill("a [redacted] b"));
  const threadId = await client.startThread();
  const turn = await client.turn(threadId, "Hello!");
  let cursor = first.nextCursor;
  const later: { message: string; fields: object }[] = [];
  await eventually(async () => {
    const page = await client.call("server/logs/read", { cursor, limit: 1 });
    cursor = page.nextCursor;
    later.push(...page.data);
    return later.some(({ message }) => message === "turn ended");
  }, "the end of the turn is in the log");
  const started = later.filter(({ message }) => message === "turn started");
  expect(started).toMatchObject([{ fields: { thread: threadId, turn } }]);
  const { data: bad } = await client.call("server/logs/read", { level: "error" });
  expect(bad).toEqual([]);
  expect((await client.refusal("server/logs/read", { cursor: "nonsense" })).data.code).toBe("invalidCursor");
  expect((await client.refusal("server/logs/read", { limit: 1001 })).code).toBe(-32602);
  // What the host itself writes to stderr is for its user; the test would be empty if the lines had no secrets.
  expect(host.stderr).toContain(planted.env);
  const shown = await runBobbin(["logs", "-n", "1000"], { env: { BOBBIN_HOME: home } });
  expect(shown.stdout).toContain("name=a [redacted] b");
  for (const secret of Object.values(planted)) expect(shown.stdout).not.toContain(secret);
});

it("[TERM-8] bobbin logs shows the last lines of a level, for people and as JSON", async () => {
  const host = await spawnHost({ args: LISTEN });
  const other = await host.connect();
  await other.call("initialize", { clientInfo: { name: "desk", version: "1" } });
  const logs = (...args: string[]) => runBobbin(["logs", ...args], { env: { BOBBIN_HOME: host.home } });
  const all = await logs();
  expect(all).toMatchObject({ code: 0, stderr: "" });
  const [listening, connected] = all.stdout.split("\n");
  expect(listening).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} info {2}listening on=\["ws:\/\/127\.0\.0\.1:\d+"\] home=/,
  );
  expect(connected).toContain("info  client connected name=desk");
  const one = await logs("-n", "1", "--json");
  expect(JSON.parse(one.stdout)).toMatchObject({
    level: "info",
    message: "client connected",
    fields: { name: "bobbin_logs" },
    process: host.pid,
  });
  const none = await logs("--level", "error");
  expect(none).toEqual({ code: 0, stdout: "", stderr: "The log has no lines of level error or above.\n" });
  expect((await logs("--level", "loud")).code).toBe(2);
});

it("[TERM-8] bobbin logs follows the hosts of a home, and says when one ends and when one starts", async () => {
  const home = await freshFolder("home");
  const first = await spawnHost({ home, args: LISTEN });
  await first.url();
  const logs = follow(home, "-n", "0");
  // The command's own connection is logged before it asks for lines.
  await first.logged(({ name }) => name === "bobbin_logs");
  await eventually(async () => {
    const client = await first.join();
    await client.close();
    return logs.stdout.includes("name=");
  }, "a new line is shown");
  await first.kill();
  await eventually(() => logs.stderr.includes(`The host has ended, process ${first.pid}.\n`), "it says so");
  const second = await spawnHost({ home, args: LISTEN });
  await eventually(() => logs.stdout.includes(`[${second.pid}] info  listening`), "the next one is followed");
  expect(logs.stderr).toBe(
    `The host has ended, process ${first.pid}.\nA host has started, process ${second.pid}.\n`,
  );
  logs.child.kill("SIGINT");
  await once(logs.child, "close");
});

it("[TERM-8] bobbin logs shows each line once if a host has two sockets, and ends with its reader", async () => {
  const host = await spawnHost({ args: [...LISTEN, "--listen", "unix://"] });
  await host.url();
  const shown = await runBobbin(["logs"], { env: { BOBBIN_HOME: host.home } });
  expect(shown.stdout.match(/ listening /g)).toHaveLength(1);
  const logs = follow(host.home);
  await eventually(() => logs.stdout.includes(" listening "), "lines are shown");
  logs.child.stdout.destroy();
  let ended = false;
  logs.child.once("exit", () => (ended = true));
  await eventually(async () => {
    const client = await host.join();
    await client.close();
    return ended;
  }, "it ends when nobody reads");
});

it("[TERM-8] bobbin logs says what to do where no host runs", async () => {
  const ran = await runBobbin(["logs", "--follow"]);
  expect([ran.code, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toContain("bobbin: no host with a readable log runs on ");
  expect(ran.stderr).toContain("bobbin app-server --listen ws://127.0.0.1:4545");
});

interface Follower {
  readonly child: ChildProcessWithoutNullStreams;
  stdout: string;
  stderr: string;
}

function follow(home: string, ...args: readonly string[]): Follower {
  const child = spawn(process.execPath, [BOBBIN, "logs", "--follow", ...args], { env: environment(home) });
  const follower = { child, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (follower.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (follower.stderr += text));
  child.stdin.end();
  onTestFinished(() => void child.kill("SIGKILL"));
  return follower;
}
