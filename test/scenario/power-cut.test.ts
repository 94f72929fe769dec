// A power cut takes what was not synced: last commits, new files, claims. It is played here by taking them away.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

async function listed(client: WireClient): Promise<Record<string, string | null>> {
  const { data } = await client.call("thread/list", { limit: 100 });
  return Object.fromEntries(data.map(({ id, name }: { id: string; name: string | null }) => [id, name]));
}

async function journalOf(client: WireClient, threadId: string): Promise<string> {
  return (await client.call("thread/read", { threadId })).thread.path;
}

it("[CRASH-5] a power cut leaves lists equal to the journals, and every load with an end", async () => {
  const home = await freshFolder();
  const mark = join(home, "live", "boot.mark");
  const first = await stdioHost({ home });
  const threads: string[] = [];
  for (const text of ["kept", "gone", "shorter"]) {
    const threadId = await first.client.startThread();
    await first.client.turn(threadId, `the ${text} thread`);
    threads.push(threadId);
  }
  const [kept, gone, shorter] = threads as [string, string, string];
  const before = readFileSync(await journalOf(first.client, shorter), "utf8");
  await first.client.turn(shorter, "of a turn that will be lost");
  await first.client.call("thread/name/set", { threadId: shorter, name: "Lost" });
  expect(await listed(first.client)).toEqual({ [kept]: null, [gone]: null, [shorter]: "Lost" });
  const [path, lost] = [await journalOf(first.client, shorter), await journalOf(first.client, gone)];
  const boot = readFileSync(mark, "utf8");
  await first.host.kill();

  writeFileSync(path, before);
  await rm(lost);
  for (const name of readdirSync(join(home, "live"))) {
    if (name !== "boot.mark") await rm(join(home, "live", name));
  }
  writeFileSync(mark, "another run of this machine");

  const second = await stdioHost({ home, capabilities: { experimentalApi: true } });
  // At once, before anyone looks at it: what the lists knew of lost commits must not stand in the way.
  const { thread } = await second.client.call("thread/resume", { threadId: shorter });
  expect(thread.turns).toHaveLength(1);
  await eventually(() => readFileSync(mark, "utf8") === boot, "everything is made good");
  expect(await listed(second.client)).toEqual({ [kept]: null, [shorter]: null });
  const search = async (searchTerm: string) =>
    (await second.client.call("thread/search", { searchTerm })).data.length;
  expect([await search("lost"), await search("thread")]).toEqual([0, 2]);
  expect(readFileSync(await journalOf(second.client, kept), "utf8")).toContain('"reason":"lost"');
  await second.client.turn(shorter, "on");
  second.client.end();
  await second.host.exited;
  // Nothing can be lost any more.
  expect(existsSync(mark)).toBe(false);
});
