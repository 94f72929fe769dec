import { describe, expect, it } from "vitest";
import { nodePlatform } from "./node.ts";

describe("the platform", () => {
  it("gives memory back without harm, also twice at once", async () => {
    const platform = nodePlatform();
    platform.giveBackMemory();
    platform.giveBackMemory();
    // It is asked for behind an import: what it throws would end the process after this.
    await import("node:inspector");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(platform.process().residentMemoryBytes).toBeGreaterThan(0);
  });

  it("makes ids that are unique and in the order of their making", () => {
    const { ids } = nodePlatform();
    const made = Array.from({ length: 10_000 }, () => ids.uuid());
    expect(new Set(made).size).toBe(made.length);
    expect(made.toSorted()).toEqual(made);
    expect(
      made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    ).toBe(true);
  });

  it("makes safe integers above zero", () => {
    const { ids } = nodePlatform();
    for (let at = 0; at < 10_000; at++) {
      const id = ids.integer();
      expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    }
  });
});
