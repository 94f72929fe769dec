import { expect, it } from "vitest";
import { IndexFile } from "../../../../test/simulation/memory-index.ts";
import { newThread } from "../../../../test/support/test-thread.ts";
import { Supervisor } from "../observe/supervise.ts";
import { Slices } from "../platform/event-loop-slices.ts";
import { nodePlatform } from "../platform/node.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { SharedMemory } from "../store/memory/in-memory-store.ts";
import type { Actor } from "./actor.ts";
import { Registry, type RegistryPorts } from "./registry.ts";

const { facts, settings, load, docs } = newThread();
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

function registry(more: Partial<RegistryPorts>): Registry {
  const platform = nodePlatform();
  const ports = {
    platform,
    commits: new Slices(platform),
    supervisor: new Supervisor(SILENT),
    maxResident: 10,
    claims: { onLost() {} },
    memory: { create: async () => new MemoryJournal() },
    journalSync: "never",
    broadcast() {},
    observers: [],
    driver: { goOn() {}, stop() {} },
    ...more,
  };
  return new Registry(ports as unknown as RegistryPorts);
}

class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const start = (id: string) => ({ facts: { ...facts, id, ephemeral: true }, settings, load, docs });

it("[DAMAGE-3] a thread whose work cannot begin is loaded as failed, and others are as they were", async () => {
  const loaded = ({ id }: Actor): void => {
    if (id === "ill") throw new TypeError("a bug");
  };
  const threads = registry({ observers: [{ loaded }] });
  const [ill, well] = [await threads.start(start("ill")), await threads.start(start("well"))];
  expect([ill.status.type, well.status.type]).toEqual(["systemError", "idle"]);
  await expect(ill.submit({ kind: "rename", at: 2, name: "one" })).rejects.toMatchObject({
    code: "threadBroken",
  });
  await well.submit({ kind: "rename", at: 2, name: "one" });
  expect(threads.get("ill")).toBe(ill);
});

it("[LIFE-19] a thread whose history is still being copied is edited when it is there", async () => {
  const store = new SharedMemory().open("host", new IndexFile().open());
  const { journal, claims } = store;
  const threads = registry({ journal, claims, mustNotify: () => false });
  const id = "01a1e0e3-d978-7663-ab83-83144a434ff6";
  const [begun, rest] = [new Gate(), new Gate()];
  const history = (async function* () {
    yield [{ type: "renamed", at: 1, name: "copied" } as const];
    begun.open();
    await rest.opened;
    yield [{ type: "itemsInjected", at: 1, items: [] } as const];
  })();
  const started = threads.start({ facts: { ...facts, id }, settings, load, docs, history });
  await begun.opened;
  const edited = threads.edit(
    id,
    () => true,
    { kind: "rename", at: 2, name: "edited" },
    () => {},
  );
  const found = threads.find(id, () => true);
  rest.open();
  const actor = await started;
  await edited;
  expect(await found).toBe(actor);
  expect(await actor.peek()).toMatchObject({ name: "edited", status: { type: "idle" } });
  const types: string[] = [];
  for await (const { commit } of actor.journal.forwards())
    types.push(...commit.records.map(({ type }) => type));
  expect(types).toEqual(["created", "renamed", "itemsInjected", "checkpoint", "renamed"]);
});
