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
