// A thread of some two hundred megabytes is opened and paged like a small one.
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const MiB = 1024 * 1024;
const TURNS = 540;
const TEXT = "lorem ipsum ".repeat(Math.floor((400 * 1024) / 12));

let host: HostProcess;
let client: WireClient;
let threadId: string;
const tail: string[] = [];

beforeAll(async () => {
  const home = await freshFolder();
  const first = await stdioHost({ home });
  threadId = await first.client.startThread();
  for (let at = 0; at < 6; at++) tail.push(await first.client.turn(threadId, `small ${at}`));
  const { path } = (await first.client.call("thread/read", { threadId })).thread;
  first.client.end();
  await first.host.exited;
  growBetweenCreationAndFirstTurn(path);
  expect(statSync(path).size).toBeGreaterThan(200 * MiB);
  ({ host, client } = await stdioHost({ home, capabilities: { experimentalApi: true } }));
  await client.call("thread/loaded/list");
});

/** Puts large turns before those that are there, which only move on in their numbers. */
function growBetweenCreationAndFirstTurn(path: string): void {
  const [created, ...rest] = readFileSync(path, "utf8").trimEnd().split("\n");
  const file = openSync(path, "w");
  writeSync(file, `${created}\n`);
  const at = Date.now();
  for (let turn = 1; turn <= TURNS; turn++) {
    const turnId = `00000000-0000-7000-8000-${String(turn).padStart(12, "0")}`;
    const user = {
      type: "userMessage",
      id: `u${turn}`,
      clientId: null,
      content: [],
      startedAtMs: at,
      completedAtMs: at,
    };
    const agent = {
      ...{ type: "agentMessage", id: `a${turn}`, text: TEXT, phase: null, memoryCitation: null },
      ...{ delivery: null, questions: null, startedAtMs: at, completedAtMs: at },
    };
    const records = [
      { type: "turnStarted", turnId, at, input: [], outputSchema: null },
      ...[user, { ...agent, text: "" }].map((item) => ({ type: "itemStarted", turnId, at, item })),
      ...[user, agent].map((item) => ({ type: "itemCompleted", turnId, at, item })),
      { type: "turnEnded", turnId, startedAt: at, at, status: "completed", error: null, answer: null },
    ];
    const seq = turn + 1;
    writeSync(file, `${JSON.stringify({ seq, epoch: 1, prev: seq - 1, records })}\n`);
  }
  for (const line of rest) {
    const { seq, prev, ...commit } = JSON.parse(line);
    writeSync(
      file,
      `${JSON.stringify({ seq: seq + TURNS, epoch: commit.epoch, prev: prev + TURNS, records: commit.records })}\n`,
    );
  }
  closeSync(file);
}

/** What a request costs the host: bytes read, and memory on top of what it had. */
async function cost(work: () => Promise<unknown>): Promise<{ read: number; grown: number }> {
  const [read, rss] = [host.bytesRead(), host.rss()];
  await work();
  return { read: host.bytesRead() - read, grown: host.rss() - rss };
}

describe("a journal of 200 MB", () => {
  it("[JOURNAL-1] is resumed without its turns by reading its tail", async () => {
    const { read, grown } = await cost(async () => {
      const { thread } = await client.call("thread/resume", { threadId, excludeTurns: true });
      expect(thread).toMatchObject({ id: threadId, status: { type: "idle" }, turns: [] });
    });
    expect(read).toBeLessThan(4 * MiB);
    expect(grown).toBeLessThan(64 * MiB);
  });

  it("[JOURNAL-2] gives its last page by reading its tail, and goes back from there", async () => {
    const { read, grown } = await cost(async () => {
      const page = await client.call("thread/turns/list", { threadId, limit: 5 });
      expect(page.data.map(({ id }: { id: string }) => id)).toEqual(tail.slice(1).toReversed());
      const items = await client.call("thread/items/list", { threadId, limit: 4, sortDirection: "desc" });
      expect(items.data).toHaveLength(4);
      const next = await client.call("thread/turns/list", { threadId, limit: 3, cursor: page.nextCursor });
      expect(next.data[0].id).toBe(tail[0]);
      expect(next.data[1].items.at(-1).text).toHaveLength(TEXT.length);
    });
    expect(read).toBeLessThan(16 * MiB);
    expect(grown).toBeLessThan(96 * MiB);
  });

  it("[JOURNAL-6] gives its first page by reading its front, and goes on from there", async () => {
    const { read, grown } = await cost(async () => {
      const page = await client.call("thread/turns/list", { threadId, limit: 3, sortDirection: "asc" });
      expect(page.data.map(({ id }: { id: string }) => id.slice(-3))).toEqual(["001", "002", "003"]);
      const next = await client.call("thread/turns/list", {
        ...{ threadId, limit: 2, sortDirection: "asc", cursor: page.nextCursor },
      });
      expect(next.data.map(({ id }: { id: string }) => id.slice(-3))).toEqual(["004", "005"]);
      const items = await client.call("thread/items/list", { threadId, limit: 2 });
      expect(items.data.map(({ item }: { item: { id: string } }) => item.id)).toEqual(["u1", "a1"]);
    });
    expect(read).toBeLessThan(16 * MiB);
    expect(grown).toBeLessThan(96 * MiB);
  });

  it("[JOURNAL-7] gives a page in its middle by reading that page, and goes on from there", async () => {
    const seq = 270;
    let cursor: unknown;
    const found = await cost(async () => {
      // Nobody has told where the commit is: it is found by its number.
      const page = await client.call("thread/turns/list", { threadId, limit: 2, cursor: `@${seq}` });
      expect(page.data.map(({ id }: { id: string }) => id.slice(-3))).toEqual(["269", "268"]);
      cursor = page.nextCursor;
    });
    expect(found.read).toBeLessThan(12 * MiB);
    const { read, grown } = await cost(async () => {
      const next = await client.call("thread/turns/list", { threadId, limit: 2, cursor });
      expect(next.data.map(({ id }: { id: string }) => id.slice(-3))).toEqual(["267", "266"]);
      const back = await client.call("thread/turns/list", {
        ...{ threadId, limit: 2, sortDirection: "asc", cursor: next.backwardsCursor },
      });
      expect(back.data.map(({ id }: { id: string }) => id.slice(-3))).toEqual(["267", "268"]);
    });
    expect(read).toBeLessThan(8 * MiB);
    expect(grown).toBeLessThan(96 * MiB);
  });

  it("[CONSOLE-20] gives pages of its records by reading those pages", async () => {
    const read = (params: object) => client.call("thread/journal/read", { threadId, ...params });
    let cursor: unknown;
    const last = await cost(async () => {
      const page = await read({ limit: 60 });
      expect(page.data).toHaveLength(60);
      cursor = page.nextCursor;
      const [first] = (await read({ limit: 1, sortDirection: "asc" })).data;
      expect([first.seq, first.type]).toEqual([1, "created"]);
    });
    expect(last.read).toBeLessThan(16 * MiB);
    const next = await cost(async () => {
      // Each page ends after some megabytes of JSON.
      const page = await read({ cursor, limit: 500, types: ["itemCompleted"] });
      expect(page.data.length).toBeLessThan(100);
      expect(page.nextCursor).not.toBeNull();
    });
    expect(next.read).toBeLessThan(48 * MiB);
  });

  it("[CONSOLE-21] gives the timelines of its last turn and of one in its middle", async () => {
    const timeline = (turnId: string) => client.call("turn/timeline/read", { threadId, turnId });
    expect((await timeline(tail.at(-1)!)).status).toBe("completed");
    const middle = await timeline("00000000-0000-7000-8000-000000000270");
    expect(middle.spans.map(({ label }: { label: string }) => label)).toEqual(["Answer"]);
  });

  it("[JOURNAL-3] does not fit into one reply: the request is refused, and the connection goes on", async () => {
    const { code, data } = await client.refusal("thread/turns/list", {
      threadId,
      limit: 200,
      itemsView: "full",
    });
    expect([code, data.code]).toEqual([-32600, "replyTooLarge"]);
    await client.call("thread/unload", { threadId });
    // Nothing follows from a request that is refused: nobody follows the thread, and it does not stay loaded.
    const from = client.frames.length;
    expect((await client.refusal("thread/resume", { threadId })).data.code).toBe("replyTooLarge");
    await client.about(threadId, "thread/closed", from);
    expect((await client.call("thread/loaded/list")).data).toEqual([]);
    expect((await client.call("thread/turns/list", { threadId, limit: 1 })).data).toHaveLength(1);
  });
});
