// `bobbin threads`, on the host that runs on the home and without one.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment, type HostProcess, spawnHost } from "../support/host-process.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";
import type { WireClient } from "../support/wire-client.ts";

const LISTEN = ["--listen", "ws://127.0.0.1:0"];

const bobbin = (home: string, ...args: readonly string[]): Promise<Run> =>
  runBobbin(args, { env: { BOBBIN_HOME: home } });

/** What a command prints with --json. */
async function json(home: string, ...args: readonly string[]) {
  const ran = await bobbin(home, ...args, "--json");
  expect(ran.stderr).toBe("");
  return JSON.parse(ran.stdout);
}

async function runningHost(home?: string): Promise<{ host: HostProcess; client: WireClient }> {
  const host = await spawnHost({ args: LISTEN, ...(home !== undefined && { home }) });
  return { host, client: await host.join(undefined, { experimentalApi: true }) };
}

describe("a host that runs on the home", () => {
  it("[TERM-1] is used by commands, even if it requires a token", async () => {
    const sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    const host = await spawnHost({
      args: [...LISTEN, "--ws-auth", "capability-token", "--ws-token-sha256", sha],
    });
    const client = await host.connect(undefined, { authorization: "Bearer test" });
    await client.initialize();
    const threadId = await client.startThread();
    await client.turn(threadId, "Hello!");
    const [thread] = await json(host.home, "threads", "list");
    // Only the host that has it loaded says so.
    expect(thread).toMatchObject({ id: threadId, status: { type: "idle" }, preview: "Hello!" });
    expect(thread.heldBy ?? null).toBe(null);
  });

  it("[TERM-1] is left alone with -c: the command starts one of its own", async () => {
    const { host, client } = await runningHost();
    const threadId = await client.startThread();
    await client.turn(threadId, "Hello!");
    const [thread] = await json(host.home, "threads", "list", "-c", "model=offline");
    expect(thread).toMatchObject({ id: threadId, status: { type: "notLoaded" }, heldBy: expect.any(String) });
    const refused = await bobbin(host.home, "threads", "archive", threadId, "-c", "model=offline");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("already has an active writer");
    expect(refused.stderr).toContain("close it there first");
  });

  it("[TERM-2] leaves a socket behind when it is killed, which commands ignore and a later host removes", async () => {
    const home = await freshFolder("home");
    const { host, client } = await runningHost(home);
    await client.turn(await client.startThread(), "Hello!");
    await host.kill();
    const socket = join(home, "app-server-control", `${host.pid}.sock`);
    expect(existsSync(socket)).toBe(true);
    expect(await json(home, "threads", "list")).toHaveLength(1);
    const next = await runningHost(home);
    expect(existsSync(socket)).toBe(false);
    next.host.signal("SIGTERM");
    await next.host.exited;
    expect(existsSync(join(home, "app-server-control", `${next.host.pid}.sock`))).toBe(false);
  });
});

describe("bobbin threads", () => {
  it("[TERM-3] lists, finds, shows, renames and forks", async () => {
    const { host, client } = await runningHost();
    const { home } = host;
    const threadId = await client.startThread();
    await client.turn(threadId, "Tell me about the needle");
    await client.call("thread/unload", { threadId });
    const [listed, found, none] = await Promise.all([
      bobbin(home, "threads", "list"),
      bobbin(home, "threads", "search", "needle"),
      bobbin(home, "threads", "search", "haystack"),
    ]);
    expect(listed.stdout).toMatch(
      new RegExp(`^Tell me about the needle  not loaded · just now\n  ${threadId}  \\S+\n$`),
    );
    expect(found.stdout).toContain(threadId);
    expect([none.code, none.stdout, none.stderr]).toEqual([1, "", 'No thread contains "haystack".\n']);
    const renamed = await json(home, "threads", "rename", threadId, "A", "name");
    expect(renamed).toEqual([{ threadId, name: "A name" }]);
    // By its name, and by the beginning of its id.
    for (const given of ["A name", threadId.slice(0, 20)]) {
      const shown = await bobbin(home, "threads", "show", given);
      expect(shown.stdout).toMatch(/^A name\n {2}id {7}\S+\n {2}state {4}not loaded\n/);
      expect(shown.stdout).toContain(
        "\n> Tell me about the needle\n\nThis is Bobbin's built-in offline model",
      );
    }
    const fork = (await bobbin(home, "threads", "fork", threadId, "--name", "Another")).stdout.trim();
    const { name, forkedFromId, turns } = await json(home, "threads", "show", fork);
    expect([name, forkedFromId, turns.length]).toEqual(["Another", threadId, 1]);
    // What a command loads does not stay.
    await client.until(
      () =>
        client
          .told("thread/status/changed")
          .some(({ params }) => params.threadId === fork && params.status.type === "notLoaded"),
      "the fork is unloaded",
    );
  });

  it("[TERM-3] archives, unarchives and deletes", async () => {
    const { host, client } = await runningHost();
    const { home } = host;
    const threadId = await client.startThread();
    await client.turn(threadId, "Hello!");
    expect((await bobbin(home, "threads", "archive", threadId)).stdout).toBe(`Archived ${threadId}.\n`);
    const [archived, others] = await Promise.all([
      json(home, "threads", "list", "--archived"),
      json(home, "threads", "list"),
    ]);
    expect(archived).toMatchObject([{ id: threadId }]);
    expect(others).toEqual([]);
    expect((await bobbin(home, "threads", "unarchive", threadId)).code).toBe(0);
    expect(await json(home, "threads", "list")).toMatchObject([{ id: threadId }]);
    const unasked = await bobbin(home, "threads", "delete", threadId);
    expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining("add --yes")]);
    expect((await bobbin(home, "threads", "delete", "--yes", threadId)).stdout).toBe(
      `Deleted ${threadId}.\n`,
    );
    const gone = await bobbin(home, "threads", "show", threadId);
    expect([gone.code, gone.stdout]).toEqual([1, ""]);
    expect(gone.stderr).toContain("bobbin threads list");
  });

  it("[TERM-3] works where no host runs", async () => {
    const home = await freshFolder("home");
    expect((await bobbin(home, "exec", "Hello!")).code).toBe(0);
    const [{ id }] = await json(home, "threads", "list");
    expect((await bobbin(home, "threads", "rename", id, "A name")).code).toBe(0);
    const fork = (await bobbin(home, "threads", "fork", "A name")).stdout.trim();
    expect((await bobbin(home, "threads", "delete", "--yes", id)).code).toBe(0);
    expect(await json(home, "threads", "list")).toMatchObject([{ id: fork, forkedFromId: id }]);
  });
});

it("[TERM-3] bobbin threads refuses what is ambiguous, unknown or no number", async () => {
  const { host, client } = await runningHost();
  for (const text of ["One", "Two"]) await client.turn(await client.startThread(), text);
  const { home } = host;
  const ambiguous = await bobbin(home, "threads", "archive", "0");
  expect([ambiguous.code, ambiguous.stderr]).toEqual([1, expect.stringContaining('2 threads match "0"')]);
  const unknown = await bobbin(home, "threads", "show", "nothing");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('the id or name "nothing"')]);
  expect((await bobbin(home, "threads", "list", "--limit", "0")).code).toBe(2);
  // Neither of two threads is changed if one of them is not found.
  const [{ id }] = await json(home, "threads", "list");
  expect((await bobbin(home, "threads", "archive", id, "nothing")).code).toBe(1);
  expect(await json(home, "threads", "list")).toHaveLength(2);
});

it("[TERM-5] fits 80 columns and escapes control characters", async () => {
  const { host, client } = await runningHost();
  const threadId = await client.startThread();
  await client.turn(threadId, "Hello!");
  await client.call("thread/name/set", { threadId, name: `\x1b[2Jred\u202e ${"long ".repeat(40)}` });
  const run = await TerminalRun.start([process.execPath, BOBBIN, "threads", "list"], {
    cwd: await freshFolder("work"),
    env: environment(host.home),
    cols: 80,
  });
  expect((await run.ended).code).toBe(0);
  const [title, place] = run.shown.split("\n");
  expect(title).toMatch(/^␛\[2Jred\ufffd long .*… {2,}idle · just now$/);
  expect(title!.length).toBeLessThanOrEqual(80);
  expect(place).toContain(threadId);
  expect(run.raw).not.toContain("\x1b[2J");
});

it("[TERM-5] bobbin threads delete asks on a terminal", async () => {
  const { host, client } = await runningHost();
  const threadId = await client.startThread();
  await client.turn(threadId, "Hello!");
  const ask = () =>
    TerminalRun.start([process.execPath, BOBBIN, "threads", "delete", threadId], {
      cwd: host.home,
      env: environment(host.home),
      cols: 80,
    });
  const kept = await ask();
  await kept.shows('Delete "Hello!" with its history, for good? [y/N] ');
  await kept.type("\r");
  await kept.ended;
  expect(kept.shown).toContain(`Kept ${threadId}.`);
  const deleted = await ask();
  await deleted.shows("[y/N] ");
  await deleted.type("y\r");
  expect((await deleted.ended).code).toBe(0);
  expect(await json(host.home, "threads", "list")).toEqual([]);
});
