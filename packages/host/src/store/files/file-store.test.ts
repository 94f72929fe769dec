import { expect, it } from "vitest";
import { MemoryMachine, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit } from "../../../../../test/support/test-thread.ts";
import type { ThreadIndex } from "../thread-index.ts";
import { fileStore } from "./file-store.ts";

it("closes the index while the host still has its lock, and then the journals", async () => {
  const machine = new MemoryMachine();
  const locks: number[] = [];
  const index = { close: async () => void locks.push(machine.locks.size) } as unknown as ThreadIndex;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = fileStore({ home: machine.home, platform: machine.platform(), log, index });
  expect([store.index, store.claims, store.startKeys]).toEqual([index, store.journal, store.journal]);
  const journal = await store.journal.create(threadId(900));
  await journal.append(firstCommit(threadId(900)));
  await store.documents.replace("mcp", "{}", undefined);
  await store.secrets.save("t", 1, "secret");
  expect(machine.files.under("mcp")).toEqual(["mcp.json"]);
  expect(machine.acquired).toEqual(["live/takeover.lock"]);
  await store.close();
  expect([locks, [...machine.locks], machine.files.open]).toEqual([[1], [], []]);
});
