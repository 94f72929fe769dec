// A home that begins with this program never has its journals read for a list.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";

const REBUILT = "the index was made from the journals";
const options = (home: string) => ({ home, env: { LOG_LEVEL: "info" } });

async function homeWithThreads(names: readonly string[]): Promise<string> {
  const home = await freshFolder();
  const { host, client } = await stdioHost(options(home));
  for (const name of names) await client.turn(await client.startThread(), name);
  client.end();
  await host.exited;
  expect(host.stderr).not.toContain(REBUILT);
  return home;
}

it("the first list of a host reads no journals if earlier hosts kept the index up to date", async () => {
  const home = await homeWithThreads(["one", "two", "three"]);
  const { host, client } = await stdioHost(options(home));
  const { data } = await client.call("thread/list", { sortDirection: "asc" });
  expect(data.map(({ preview }: { preview: string }) => preview)).toEqual(["one", "two", "three"]);
  client.end();
  await host.exited;
  expect(host.stderr).not.toContain(REBUILT);
});

it("the first list of a host reads all journals if the index is gone", async () => {
  const home = await homeWithThreads(["one", "two"]);
  for (const tail of ["", "-wal", "-shm"]) rmSync(join(home, `threads.v5.sqlite${tail}`), { force: true });
  const { host, client } = await stdioHost(options(home));
  await client.turn(await client.startThread(), "three");
  const { data } = await client.call("thread/list", { sortDirection: "asc" });
  expect(data.map(({ preview }: { preview: string }) => preview)).toEqual(["one", "two", "three"]);
  client.end();
  await host.exited;
  expect(host.stderr).toContain(REBUILT);
});

it("[LIST-18] the first list of a host shows the last names that a killed host gave", async () => {
  const home = await freshFolder();
  const { host, client } = await stdioHost(options(home));
  const ids: string[] = [];
  for (let nth = 0; nth < 100; nth++) ids.push(await client.startThread());
  await Promise.all(ids.map((threadId) => client.turn(threadId, "hello")));
  const name = (nth: number): string => `renamed ${nth}`;
  const renaming = ids.map((threadId, nth) => client.call("thread/name/set", { threadId, name: name(nth) }));
  await Promise.all(renaming);
  await host.kill();
  const next = await stdioHost(options(home));
  const { data } = await next.client.call("thread/list", { sortDirection: "asc", limit: 100 });
  expect(data.map((thread: { name: string }) => thread.name)).toEqual(ids.map((_, nth) => name(nth)));
});
