// The example as people run it: a process, sockets, files. It is killed without a warning.
import { type ChildProcess, spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { memoryData, noAuth } from "@bobbin/rap";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { freshFolder } from "../../test/support/folder.ts";
import { RapWorld } from "../../test/support/rap-world.ts";
import { createReminderServer } from "./server.ts";

const DAY_MS = 24 * 3_600_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Runs the example until it says where it listens. */
async function run(
  data: string,
  port = 0,
): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const script = join(import.meta.dirname, "../run.mjs");
  const env = { ...process.env, RAP_DATA: data, RAP_TOKEN: "a-token-for-tests", PORT: String(port) };
  const child = spawn(process.execPath, [script, "reminder"], { env, stdio: ["ignore", "pipe", "inherit"] });
  ends.push(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await eventually(() => said.includes("[rap_servers.reminder]"), "the example listens");
  return { url: /listening on (\S+),/.exec(said)![1]!, process: child };
}

async function stopped(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return ended;
}

interface Received {
  readonly key: string | undefined;
  readonly message: Record<string, unknown>;
}

async function hosting(statusOf: (message: Record<string, unknown>) => number) {
  const received: Received[] = [];
  const http = createServer(async (request, response) => {
    const message = JSON.parse(await textOf(request));
    received.push({ key: request.headers["idempotency-key"] as string | undefined, message });
    response.writeHead(statusOf(message)).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  ends.push(
    () => http.closeAllConnections(),
    () => http.close(),
  );
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/callback`, received };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

it("[RAPS-85] [RAPS-88] a reminder survives a kill of its server, and arrives once", async () => {
  const data = await freshFolder("reminder");
  let taking = false;
  const host = await hosting(({ type }) => (type === "tool_result" || taking ? 200 : 503));
  const first = await run(data);
  const invoke = (url: string, id: string, in_seconds: number): Promise<Response> =>
    fetch(`${url}/invoke`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: "Bearer a-token-for-tests" },
      body: JSON.stringify({
        operation: "remind_me",
        arguments: { text: `stand up (${id})`, in_seconds },
        id,
        group_id: "thread_1",
        callback_url: host.url,
      }),
    });
  expect((await invoke(first.url, "soon", 0.05)).status).toBe(200);
  expect((await invoke(first.url, "later", 3600)).status).toBe(200);
  const events = (): Received[] =>
    host.received.filter(({ message }) => message["type"] === "subscription_event");
  await eventually(() => events().length >= 1 && host.received.length >= 3, "the event is tried");
  await stopped(first.process, "SIGKILL");

  taking = true;
  const before = events().length;
  const second = await run(data, Number(new URL(first.url).port));
  await eventually(() => events().length > before, "the event arrives");
  expect(new Set(events().map(({ key, message }) => `${key} ${JSON.stringify(message)}`)).size).toBe(1);
  expect(events()[0]!.message).toEqual({
    type: "subscription_event",
    group_id: "thread_1",
    tool_call_id: "soon",
    text: "Reminder: stand up (soon)",
    associative: true,
    final: true,
  });
  // The other one still waits, and is all that is kept.
  await eventually(async () => (await readdir(join(data, "entries"))).length === 1, "the first is forgotten");
  expect(await stopped(second.process, "SIGTERM")).toBe(0);
  expect(await readdir(join(data, "entries"))).toHaveLength(1);
});

it("a reminder of next year arrives, though its subscription had no event until then", async () => {
  const world = new RapWorld();
  world.time = Date.now();
  const server = createReminderServer({
    auth: noAuth,
    data: memoryData(),
    platform: world.platform,
    limits: { sweepMs: DAY_MS },
  });
  const text = "renew the passport";
  await world.result(server, "remind_me", { text, in_seconds: 366 * 24 * 3600 });
  await world.advance(365 * DAY_MS);
  expect(world.posts).toHaveLength(1);
  await world.advance(2 * DAY_MS);
  expect(world.texts().slice(1)).toEqual([`Reminder: ${text}`]);
});
