import { expect, it } from "vitest";
import { CreatedThreads } from "./created-threads.ts";

async function* stored(...ids: string[]): AsyncIterable<{ readonly id: string }> {
  for (const id of ids) yield { id };
}

it("says once whether this host has created all stored threads", async () => {
  const cases: [string[], string[], boolean][] = [
    [[], [], true],
    [["a", "b"], ["a", "b"], true],
    [["a", "b"], ["b"], true],
    [["a"], ["a", "b"], false],
    [[], ["a"], false],
  ];
  for (const [created, found, isAll] of cases) {
    const threads = new CreatedThreads();
    for (const id of created) threads.add(id);
    expect(await threads.isAll(stored(...found))).toBe(isAll);
    threads.add("later");
    expect(await threads.isAll(stored(...created))).toBe(false);
    expect(await threads.isAll(stored())).toBe(false);
  }
});

it("does not answer again after the stored threads could not be listed", async () => {
  const threads = new CreatedThreads();
  threads.add("a");
  const failing = async function* (): AsyncIterable<{ readonly id: string }> {
    yield { id: "a" };
    throw new Error("EIO");
  };
  await expect(threads.isAll(failing())).rejects.toThrow("EIO");
  expect(await threads.isAll(stored())).toBe(false);
});
