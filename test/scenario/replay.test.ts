// A client that was away gets exactly what it missed.
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { story } from "../support/story.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const CURSORS = { experimentalApi: true, eventCursor: true };

/** What came with a cursor, as it was told, the time of telling aside. */
function durable(
  frames: readonly Received[],
  threadId: string,
): { method?: string; params: Received["params"] }[] {
  return frames
    .filter(({ params }) => params?.threadId === threadId && params.cursor !== undefined)
    .map(({ method, params }) => ({ ...(method !== undefined && { method }), params }));
}

/** Everything that came for a thread from the start on, which the rest is held against. */
async function recorded(home?: string): Promise<{ host: HostProcess; client: WireClient; threadId: string }> {
  const host = await spawnHost({ args: SOCKET, ...(home !== undefined && { home }) });
  const client = await host.join(undefined, CURSORS);
  const threadId = await client.startThread();
  for (const text of ["one", "two"]) await client.turn(threadId, text);
  await client.call("thread/name/set", { threadId, name: "named" });
  await client.call("thread/settings/update", { threadId, effort: "low" });
  await client.turn(threadId, "three");
  return { host, client, threadId };
}

/** What a resume behind a cursor brings, up to the notification that is known to be the last. */
async function replayed(one: WireClient, threadId: string, afterCursor: string, last: string) {
  const from = one.frames.length;
  const result = await one.call("thread/resume", { threadId, excludeTurns: true, afterCursor });
  if (afterCursor !== last) {
    await one.waitFor(
      ({ params }) => params?.threadId === threadId && params.cursor === last,
      "the last",
      from,
    );
  }
  await one.call("thread/loaded/list");
  return { result, frames: durable(one.frames.slice(from), threadId) };
}

describe("with the capability eventCursor", () => {
  it("[REPLAY-1] durable notifications carry a cursor, others do not, and two subscribers see the same", async () => {
    const { host, client, threadId } = await recorded();
    const other = await host.join(undefined, CURSORS);
    const plain = await host.join();
    for (const one of [other, plain]) await one.call("thread/resume", { threadId });
    const from = client.frames.length;
    const turnId = await client.turn(threadId, "for both");
    await other.turnCompleted(turnId);
    await plain.turnCompleted(turnId);
    const mine = client.frames.slice(from).filter(({ method }) => method !== undefined);
    for (const { method, params } of mine) {
      expect(params.cursor !== undefined, method).toBe(method !== "item/agentMessage/delta");
    }
    const cursors = mine.map(({ params }) => params.cursor).filter(Boolean);
    expect(new Set(cursors).size).toBe(cursors.length);
    expect(durable(other.frames, threadId)).toEqual(durable(client.frames.slice(from), threadId));
    expect(plain.frames.filter(({ params }) => params?.cursor !== undefined)).toEqual([]);
    await host.kill();
  });

  it("[REPLAY-2] a resume after any cursor replays exactly the later notifications", async () => {
    const { host, client, threadId } = await recorded();
    const all = durable(client.frames, threadId);
    const last = all.at(-1)!.params.cursor;
    expect(all.length).toBeGreaterThan(25);
    const late = await host.join(undefined, CURSORS);
    for (const [at, { params }] of all.entries()) {
      const { result, frames } = await replayed(late, threadId, params.cursor, last);
      expect(result.replay).toEqual({ gap: false });
      expect(frames).toEqual(all.slice(at + 1));
    }
    // What comes later comes once.
    const from = late.frames.length;
    await late.turn(threadId, "and on");
    const fresh = durable(late.frames.slice(from), threadId);
    const told = () => durable(client.frames, threadId).length;
    await client.until(() => told() >= all.length + fresh.length, "the other client was told as much");
    expect(fresh).toEqual(durable(client.frames, threadId).slice(all.length, all.length + fresh.length));
    await host.kill();
  });

  it("[REPLAY-3] a client that was cut off in the middle of a turn misses nothing and sees nothing twice", async () => {
    const { host, client, threadId } = await recorded();
    const other = await host.join(undefined, CURSORS);
    await other.call("thread/resume", { threadId, excludeTurns: true });
    const turnId = await client.speaking(threadId, "slowly");
    await other.waitFor(({ method }) => method === "item/started", "the turn");
    const seen = durable(other.frames, threadId);
    await other.cut();
    const again = await host.join(undefined, CURSORS);
    const afterCursor = seen.at(-1)!.params.cursor;
    const { replay } = await again.call("thread/resume", { threadId, excludeTurns: true, afterCursor });
    expect(replay).toEqual({ gap: false });
    const { params } = await again.turnCompleted(turnId);
    const first = client.frames.findIndex((frame) => frame.params?.cursor === seen[0]!.params.cursor);
    await client.turnCompleted(turnId);
    expect([...seen, ...durable(again.frames, threadId)]).toEqual(
      durable(client.frames.slice(first), threadId),
    );
    const [answer] = params.turn.items;
    const text = again
      .told("item/agentMessage/delta")
      .map((frame) => frame.params.delta)
      .join("");
    expect(text).toBe(answer.text);
    await host.kill();
  });

  it("[REPLAY-4] also over an unload, and over a restart of the host", async () => {
    const home = await freshFolder();
    const { host, client, threadId } = await recorded(home);
    const all = durable(client.frames, threadId);
    const middle = 7;
    const afterCursor = all[middle]!.params.cursor;
    await client.call("thread/unload", { threadId });
    await client.about(threadId, "thread/closed");
    const closed = durable(client.frames, threadId);
    expect(story(closed.slice(-2) as Received[])).toEqual([
      "thread/status/changed notLoaded",
      "thread/closed",
    ]);
    const resumeAfter = async (one: WireClient): Promise<Received["params"][]> => {
      const from = one.frames.length;
      const { replay } = await one.call("thread/resume", { threadId, excludeTurns: true, afterCursor });
      expect(replay).toEqual({ gap: false });
      await one.turn(threadId, "go on");
      return durable(one.frames.slice(from), threadId);
    };
    const first = await resumeAfter(client);
    const known = closed.slice(middle + 1);
    expect(first.slice(0, known.length)).toEqual(known);
    expect(story(first.slice(known.length, known.length + 1) as Received[])).toEqual([
      "thread/status/changed idle",
    ]);

    host.signal("SIGTERM");
    await host.exited;
    const second = await spawnHost({ args: SOCKET, home });
    const afterEnd = await resumeAfter(await second.join(undefined, CURSORS));
    expect(afterEnd.slice(0, first.length)).toEqual(first);
    await second.kill();
    const third = await spawnHost({ args: SOCKET, home });
    const afterKill = await resumeAfter(await third.join(undefined, CURSORS));
    expect(afterKill.slice(0, afterEnd.length)).toEqual(afterEnd);
    const cursors = afterKill.map(({ params }) => params.cursor);
    expect(new Set(cursors).size).toBe(cursors.length);
    await third.kill();
  });

  it("[REPLAY-5] an invalid cursor is refused, and a cursor that the journal no longer contains gives a gap", async () => {
    const { host, client, threadId } = await recorded();
    for (const afterCursor of ["bad", "", "1.2", "-1.0.0", "1.2.3.4", "9".repeat(400)]) {
      const { data } = await client.refusal("thread/resume", { threadId, afterCursor });
      expect(data.code).toBe("invalidCursor");
    }
    const late = await host.join(undefined, CURSORS);
    const { cursor } = durable(client.frames, threadId).at(-1)!.params;
    const [epoch, seq] = cursor.split(".");
    for (const afterCursor of [`${epoch}.999999.0`, `${Number(epoch) + 7}.${seq}.0`]) {
      const from = late.frames.length;
      const { replay } = await late.call("thread/resume", { threadId, excludeTurns: true, afterCursor });
      expect(replay).toEqual({ gap: true });
      await late.turn(threadId, "after the gap");
      expect(story(late.frames.slice(from), threadId)).toContain("turn/completed");
    }
    expect((await client.call("thread/resume", { threadId })).replay).toBeUndefined();
    await host.kill();
  });
});
