import { beforeEach, describe, expect, it } from "vitest";
import { IndexFile } from "../../../../../test/simulation/memory-index.ts";
import type { DocumentStore } from "../../store/documents.ts";
import { SharedMemory } from "../../store/memory/in-memory-store.ts";
import {
  type CallbackKeyAndPorts,
  changeCallbacks,
  newKey,
  readCallbacks,
} from "./callback-key-and-ports.ts";

const KEY = newKey({ integer: () => Number.MAX_SAFE_INTEGER });
const EMPTY: CallbackKeyAndPorts = { key: KEY, ports: [], forwards: [] };

let documents: DocumentStore;
beforeEach(() => {
  ({ documents } = new SharedMemory().open("host", new IndexFile().open()));
});

describe("the key and the ports of callback URLs", () => {
  it("are there after they were changed, and only then", async () => {
    expect(await readCallbacks(documents)).toBeUndefined();
    expect(await changeCallbacks(documents, (before) => before)).toBeUndefined();
    expect(await documents.read("rap_callbacks")).toBeUndefined();
    expect(await changeCallbacks(documents, () => EMPTY)).toEqual(EMPTY);
    expect(await readCallbacks(documents)).toEqual(EMPTY);
    const { version } = (await documents.read("rap_callbacks"))!;
    await changeCallbacks(documents, (before) => before);
    expect((await documents.read("rap_callbacks"))!.version).toBe(version);
  });

  it("are changed by several hosts at a time, which agree on one key and keep all ports", async () => {
    const ports = [1, 2, 3];
    const known = await Promise.all(
      ports.map(async (port) => {
        await changeCallbacks(documents, (before): CallbackKeyAndPorts => {
          const { key, ...rest } = before ?? { ...EMPTY, key: `${KEY} of ${port}` };
          return { ...rest, key, ports: [...rest.ports, port] };
        });
        return (await readCallbacks(documents))!.key;
      }),
    );
    expect(new Set(known).size).toBe(1);
    expect((await readCallbacks(documents))!.ports.toSorted((a, b) => a - b)).toEqual(ports);
  });

  it("have limits: the last 16 ports, and the last 64 to forward to", async () => {
    const many = Array.from({ length: 100 }, (_, nth) => nth + 1);
    await changeCallbacks(documents, () => ({ ...EMPTY, ports: many, forwards: many }));
    const { ports, forwards } = (await readCallbacks(documents))!;
    expect([ports.length, ports.at(-1), forwards.length, forwards.at(-1)]).toEqual([16, 100, 64, 100]);
  });

  it.each([
    ["no JSON", "{"],
    ["a short key", JSON.stringify({ ...EMPTY, key: "short" })],
    ["no ports", JSON.stringify({ key: KEY })],
  ])("begin anew where the document has %s", async (_, text) => {
    await documents.replace("rap_callbacks", text, undefined);
    expect(await readCallbacks(documents)).toBeUndefined();
    expect(await changeCallbacks(documents, (before) => before ?? EMPTY)).toEqual(EMPTY);
  });

  it("leave out what is no port", async () => {
    const text = JSON.stringify({ key: KEY, ports: [0, 80, 65_536, "x", 1.5] });
    await documents.replace("rap_callbacks", text, undefined);
    expect(await readCallbacks(documents)).toEqual({ ...EMPTY, ports: [80] });
  });

  it("are not replaced where they cannot be read", async () => {
    const failing = { ...documents, read: () => Promise.reject(new Error("EIO")) };
    expect(await readCallbacks(failing)).toBeUndefined();
    await expect(changeCallbacks(failing, () => EMPTY)).rejects.toThrow("EIO");
    expect(await readCallbacks(documents)).toBeUndefined();
  });
});
