// What a host logs of connections and turns, and `bobbin open`.
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, refuse } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const LISTEN = ["--listen", "ws://127.0.0.1:0"];

it("[LOG-1] logs one line for a connection, for a turn and for its end, and no text of people", async () => {
  const model = await MockModel.start(
    say("The answer is confidential"),
    refuse(401, { error: { message: "private" } }),
  );
  const { home, cwd } = await modelHome("responses", model.url, { provider: ["request_max_retries = 0"] });
  const host = await spawnHost({ home, args: LISTEN });
  const client = await host.connect();
  await client.call("initialize", { clientInfo: { name: "desk\x9b", version: "1", title: "private" } });
  const threadId = await client.startThread({ cwd });
  const turns = [await client.turn(threadId, "A private question"), await client.turn(threadId, "Another")];
  const lines = () =>
    host.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => /^(client|turn) /.test(msg))
      .map(({ level, time: _time, ms: _ms, ...line }) => ({ ...line, level }));
  await eventually(() => lines().length >= 5, "all lines are written");
  const [first, second] = turns;
  const level = "info";
  expect(lines()).toEqual([
    { msg: "client connected", name: "desk?", transport: "websocket", as: "local", level },
    { msg: "turn started", thread: threadId, turn: first, level },
    { msg: "turn ended", thread: threadId, turn: first, status: "completed", level },
    { msg: "turn started", thread: threadId, turn: second, level },
    expect.objectContaining({ msg: "turn ended", thread: threadId, turn: second, status: "failed" }),
  ]);
  expect(host.stderr).not.toMatch(/private|confidential/);
});

it("[LOG-1] logs no key that a client has in its name", async () => {
  const host = await spawnHost({ args: LISTEN });
  const client = await host.connect();
  const name = `${"desk ".repeat(14)}sk-proj-${"plantedvalue".repeat(4)}`;
  await client.call("initialize", { clientInfo: { name, version: "1" } });
  const { name: logged } = await host.logged(({ msg }) => msg === "client connected");
  expect(logged).toBe(`${"desk ".repeat(14)}[redacted]`);
});

it("[OPEN-1] opens the console in a browser, or prints a link that works once", async () => {
  const sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const auth = ["--ws-auth", "capability-token", "--ws-token-sha256", sha];
  const host = await spawnHost({ args: [...LISTEN, ...auth] });
  const site = await host.site();
  const folder = await freshFolder("work");
  const [browser, opened] = [join(folder, "browser"), join(folder, "opened")];
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`);
  await chmod(browser, 0o755);
  const ran = await runBobbin(["open"], { env: { BOBBIN_HOME: host.home, BROWSER: browser } });
  // The token is for the browser alone.
  expect(ran).toEqual({ code: 0, stdout: `Opened ${site} in the browser.\n`, stderr: "" });
  let link = "";
  await eventually(async () => {
    link = await readFile(opened, "utf8").catch(() => "");
    return link !== "";
  }, "the browser is started");
  expect(link).toMatch(new RegExp(`^${site}/#token=[\\w-]{20,}$`));
  const printed = await runBobbin(["open", "--print"], { env: { BOBBIN_HOME: host.home } });
  expect(printed.stdout).toMatch(/#token=/);
  expect(printed.stdout.trim()).not.toBe(link);
  const redeem = () =>
    fetch(`${site}/session`, {
      method: "POST",
      body: JSON.stringify({ token: printed.stdout.trim().split("#token=")[1] }),
      headers: { "content-type": "application/json" },
    });
  expect((await redeem()).status).toBe(200);
  expect((await redeem()).status).toBe(401);
  expect(host.stderr).not.toContain(link.split("#token=")[1]);
});

it("[OPEN-1] says what to do where no host runs", async () => {
  const ran = await runBobbin(["open"]);
  expect([ran.code, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toContain("Start one:  bobbin app-server --listen ws://127.0.0.1:4545");
});
