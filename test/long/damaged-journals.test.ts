// A damaged journal is read as far as it goes, and is nobody's problem but its thread's.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

interface Stored {
  readonly threadId: string;
  readonly path: string;
}

/** A home with threads of two turns each, no host on it, and no index. */
async function storedThreads(count: number): Promise<{ home: string; threads: readonly Stored[] }> {
  const home = await freshFolder();
  const { host, client } = await stdioHost({ home });
  const threads: Stored[] = [];
  for (let nth = 0; nth < count; nth++) {
    const threadId = await client.startThread();
    for (const text of [`one of ${nth}`, `two of ${nth}`]) await client.turn(threadId, text);
    threads.push({ threadId, path: (await client.call("thread/read", { threadId })).thread.path });
  }
  await ends(host, client);
  for (const name of readdirSync(home)) if (name.includes(".sqlite")) rmSync(join(home, name));
  return { home, threads };
}

async function ends(host: HostProcess, client: WireClient): Promise<void> {
  client.end();
  expect(await host.exited, host.stderr).toEqual({ code: 0, signal: null });
}

function edit(path: string, from: RegExp, to: string): void {
  const text = readFileSync(path, "utf8");
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  writeFileSync(path, edited);
}

/** The state of the checkpoint that the unload has written. */
const inCheckpoint = (field: RegExp) => new RegExp(`(?<="checkpoint","state":.*)${field.source}`);

const listed = async (client: WireClient): Promise<string[]> =>
  (await client.call("thread/list", {})).data.map(({ id }: { id: string }) => id).sort();

async function isWhole(client: WireClient, threadId: string): Promise<void> {
  const { thread } = await client.call("thread/resume", { threadId });
  expect(thread.turns).toHaveLength(2);
  await client.turn(threadId, "three");
}

describe("a damaged checkpoint", () => {
  it.each([
    ["createdAt", /"createdAt":(\d+)/, '"createdAt":"x"'],
    ["facts", /"facts":\{/, '"facts":[],"was":{'],
    ["settings", /"settings":\{/, '"settings":null,"was":{'],
    ["preview", /"preview":"/, '"preview":7,"was":"'],
    ["name", /"name":null/, '"name":{}'],
    ["requests", /"requests":\[\]/, '"requests":null'],
  ])(
    "[DAMAGE-2] [DAMAGE-3] (%s) keeps no thread from lists, and its own from nothing",
    async (_, from, to) => {
      const { home, threads } = await storedThreads(2);
      const [bad, good] = threads as [Stored, Stored];
      edit(bad.path, inCheckpoint(from), to);
      const { host, client } = await stdioHost({ home });
      expect(await listed(client)).toEqual([bad.threadId, good.threadId].sort());
      await isWhole(client, bad.threadId);
      await isWhole(client, good.threadId);
      const [line, ...more] = host.stderr.split("\n").filter((one) => one.includes("left out"));
      expect(JSON.parse(line!)).toMatchObject({ level: "warn", path: bad.path, count: 1 });
      expect(more).toEqual([]);
      await ends(host, client);
    },
  );

  it("[DAMAGE-2] and a damaged first line remove that thread from lists, and no other", async () => {
    const { home, threads } = await storedThreads(2);
    const [bad, good] = threads as [Stored, Stored];
    edit(bad.path, inCheckpoint(/"requests":\[\]/), '"requests":null');
    edit(bad.path, /"type":"created","at":/, '"type":"created","ax":');
    const { host, client } = await stdioHost({ home });
    expect(await listed(client)).toEqual([good.threadId]);
    const { threadId } = bad;
    for (const method of ["thread/read", "thread/resume", "thread/turns/list", "thread/fork"]) {
      const { data } = await client.refusal(method, { threadId });
      expect([method, data.code, data.retryable]).toEqual([method, "journalDamaged", false]);
    }
    await isWhole(client, good.threadId);
    await host.logged(({ msg, threadId: about }) => /not listed/.test(String(msg)) && about === threadId);
    await ends(host, client);
  });
});

describe("lines of junk", () => {
  it("[DAMAGE-4] delay no other request, and are logged once", async () => {
    const { home, threads } = await storedThreads(2);
    const [bad, good] = threads as [Stored, Stored];
    const lines = readFileSync(bad.path, "utf8").split("\n");
    const count = 50_000;
    lines.splice(
      1,
      0,
      ...Array<string>(count).fill('{"seq":1,"epoch":1,"prev":0,"records":['),
      ...Array<string>(1000).fill(""),
    );
    writeFileSync(bad.path, lines.join("\n"));
    const { host, client } = await stdioHost({ home });
    const from = client.frames.length;
    const list = client.request("thread/list", {}, "list");
    // One after the other: a host that is busy with the journal would answer them all behind the list.
    for (let nth = 0; nth < 10; nth++) await client.request("thread/loaded/list", {}, `between ${nth}`);
    expect((await list).result.data).toHaveLength(2);
    const order = client.frames.slice(from).flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(order.indexOf("list")).toBeGreaterThan(order.indexOf("between 0"));
    await isWhole(client, bad.threadId);
    await isWhole(client, good.threadId);
    const said = host.stderr.split("\n").filter((one) => one.includes("left out"));
    expect(said.map((one) => JSON.parse(one).count)).toEqual([count]);
    await ends(host, client);
  });
});

describe("a journal path that is not a file", () => {
  it.each([
    ["pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["folder", (path: string) => mkdirSync(path)],
    ["link to a device", (path: string) => symlinkSync("/dev/zero", path)],
  ])("[DAMAGE-5] (a %s) is refused at once, however many there are", async (_, make) => {
    const { home, threads } = await storedThreads(1);
    const [{ threadId: good, path }] = threads as [Stored];
    // More than there are threads for files: if each waited, nothing would be read any more.
    const bad = Array.from({ length: 8 }, (_, nth) => good.replace(/.{4}$/, `000${nth}`));
    for (const threadId of bad) make(path.replace(good, threadId));
    const { host, client } = await stdioHost({ home });
    expect(await listed(client)).toEqual([good]);
    const refusals = bad.flatMap((threadId) =>
      ["thread/read", "thread/resume", "thread/archive"].map((method) =>
        client.refusal(method, { threadId }),
      ),
    );
    const codes = (await Promise.all(refusals)).map(({ data }) => data.code);
    expect([...new Set(codes)]).toEqual(["journalDamaged"]);
    await isWhole(client, good);
    await ends(host, client);
  });
});
