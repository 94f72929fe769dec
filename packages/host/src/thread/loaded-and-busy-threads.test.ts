import { expect, it } from "vitest";
import type { Actor } from "./actor.ts";
import { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";

const actor = { id: "t" } as Actor;

/** A promise that resolves when the test calls `open`. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { opened, open };
}

it("waits for a thread on its way in, and then finds it loaded", async () => {
  const slots = new LoadedAndBusyThreads();
  const { opened, open } = gate();
  const entering = slots.occupy("t", async () => {
    await opened;
    slots.enter(actor);
  });
  const found = slots.settled<Actor | string>(
    "t",
    (one) => one,
    () => "free",
  );
  open();
  await entering;
  expect(await found).toBe(actor);
});

it("lets those who wait for the same thread in one after the other", async () => {
  const slots = new LoadedAndBusyThreads();
  const { opened, open } = gate();
  const leaving = slots.occupy("t", () => opened);
  const notes: string[] = [];
  const work = (name: string): Promise<void> =>
    slots.settled(
      "t",
      () => void notes.push(`${name}: loaded`),
      () =>
        slots.occupy("t", async () => {
          notes.push(`${name} begins`);
          await Promise.resolve();
          notes.push(`${name} ends`);
        }),
    );
  const both = Promise.all([work("first"), work("second")]);
  expect(notes).toEqual([]);
  open();
  await leaving;
  await both;
  expect(notes).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  expect(slots.size).toBe(0);
});

it("goes on after work that failed", async () => {
  const slots = new LoadedAndBusyThreads();
  const failing = slots.occupy("t", () => Promise.reject(new Error("no disk")));
  const found = slots.settled(
    "t",
    () => "loaded",
    () => "free",
  );
  await expect(failing).rejects.toThrow("no disk");
  expect(await found).toBe("free");
});
