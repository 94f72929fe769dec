// Checks what the next host finds after a crash.
import { cpSync, lstatSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import { freshFolder } from "./folder.ts";
import { type HostProcess, spawnHost } from "./host-process.ts";
import type { WireClient } from "./wire-client.ts";

/** Arguments of a host on a socket whose threads are unloaded as soon as no client follows them. */
export const SOCKET = ["--listen", "ws://127.0.0.1:0", "-c", "thread_unload_delay_secs=0"];

/**
 * The claims on threads. A host that has just started has none, once it has closed the threads of the previous host.
 */
export async function claims(home: string): Promise<string[]> {
  const names = await readdir(join(home, "live")).catch(() => []);
  return names.filter((name) => !name.includes("."));
}

/** Every thread as lists show it, and the threads in which a word is found. */
async function everything(
  client: WireClient,
  home: string,
): Promise<{ threads: unknown[]; found: string[] }> {
  const threads: unknown[] = [];
  for (const archived of [false, true]) {
    threads.push(...(await pages(client, "thread/list", { archived })));
  }
  const hits = await pages(client, "thread/search", { searchTerm: "common" });
  return {
    threads: JSON.parse(JSON.stringify(threads).replaceAll(home, "HOME")),
    found: hits.map((hit) => (hit as { thread: { id: string } }).thread.id),
  };
}

/** The entries of all pages of a list. */
async function pages(client: WireClient, method: string, params: object): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: { data: unknown[]; nextCursor: string | null } = await client.call(method, {
      ...params,
      limit: 100,
      cursor,
    });
    all.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}

export async function expectIndexLikeRebuilt(client: WireClient, home: string): Promise<void> {
  const copy = await freshFolder("copy");
  cpSync(home, copy, {
    recursive: true,
    // Folders named `.check-…` come and go: each start checks that it can write to the home.
    filter: (path) => !/sqlite|^live$|^\.check-/.test(basename(path)) && !lstatSync(path).isSocket(),
  });
  const other = await spawnHost({ home: copy });
  const rebuilt = other.stdio();
  await rebuilt.initialize({ experimentalApi: true });
  expect(await everything(client, home)).toEqual(await everything(rebuilt, copy));
  await other.kill();
  await rm(copy, { recursive: true, force: true });
}

/** Starts the next host, waits until it has recovered the lost threads, and connects a client. */
export async function restarted(home: string): Promise<{ host: HostProcess; client: WireClient }> {
  const host = await spawnHost({ args: SOCKET, home });
  const client = await host.join(undefined, { experimentalApi: true });
  await eventually(async () => {
    // A turn of which clients had seen nothing continues until the model has answered.
    for (const threadId of (await client.call("thread/loaded/list")).data) {
      await client.call("thread/unload", { threadId, interrupt: true });
    }
    return (await claims(home)).length === 0;
  }, "lost threads are closed");
  return { host, client };
}
