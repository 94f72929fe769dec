import { expect, it } from "vitest";
import { newThread } from "../core/test-thread.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { Supervisor } from "../observe/supervise.ts";
import { nodePlatform } from "../platform/node.ts";
import { Slices } from "../platform/slices.ts";
import { Registry, type RegistryPorts } from "./registry.ts";

const { facts, settings, load, docs } = newThread();
const SILENT = { debug() {}, info() {}, warn() {}, error() {}, flushed: async () => {} };

function registry(more: Partial<RegistryPorts>): Registry {
  const platform = nodePlatform();
  const ports = {
    platform,
    commits: new Slices(platform),
    supervisor: new Supervisor(SILENT),
    maxResident: 10,
    memory: { create: async () => new MemoryJournal() },
    journalSync: "never",
    broadcast() {},
    committed() {},
    reconcile() {},
    changed() {},
    loaded() {},
    ...more,
  };
  return new Registry(ports as unknown as RegistryPorts);
}

const start = (id: string) => ({ facts: { ...facts, id, ephemeral: true }, settings, load, docs });

it("[DAMAGE-3] a thread whose work cannot begin is loaded as failed, and others are as they were", async () => {
  const threads = registry({
    changed: ({ id, broken }) => {
      if (id === "ill" && !broken) throw new TypeError("a bug");
    },
  });
  const [ill, well] = [await threads.start(start("ill")), await threads.start(start("well"))];
  expect([ill.status.type, well.status.type]).toEqual(["systemError", "idle"]);
  await expect(ill.submit({ kind: "rename", at: 2, name: "one" })).rejects.toMatchObject({
    code: "threadBroken",
  });
  await well.submit({ kind: "rename", at: 2, name: "one" });
  expect(threads.get("ill")).toBe(ill);
});
