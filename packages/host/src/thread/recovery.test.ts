import { expect, it } from "vitest";
import { newThread } from "../core/test-thread.ts";
import { fault } from "../errors.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";
import { Slots } from "./slots.ts";

/** A start after a power cut, with one thread that can not be looked at because of `cause`. */
async function afterPowerCut(cause: Error | undefined): Promise<{ done: boolean; reported: number }> {
  let done = false;
  let reported = 0;
  const held = { journal: { close: async () => {} }, head: { state: newThread() } };
  const ports = {
    journal: {
      abandoned: async () => [],
      lostPower: async () => true,
      threads: async function* () {
        yield { id: "t" };
      },
      madeGood: async () => {
        done = true;
      },
      disown: async () => {},
    },
    slots: new Slots(),
    supervisor: { report: () => reported++ },
    listed: async () => [],
    starting: () => false,
    stopped: () => false,
    recovering: async () => {},
    stored: {
      open: async () => {
        if (cause !== undefined) throw cause;
        return held;
      },
      end: async () => held,
    },
  };
  await new Recovery(ports as unknown as RecoveryPorts).run();
  return { done, reported };
}

it("what a power cut left is made good when every thread was looked at", async () => {
  expect(await afterPowerCut(undefined)).toEqual({ done: true, reported: 0 });
  expect(await afterPowerCut(fault("noRollout", "t"))).toEqual({ done: true, reported: 0 });
  expect(await afterPowerCut(fault("heldElsewhere", "t", "h"))).toEqual({ done: true, reported: 0 });
});

it("a thread that could not be looked at is left to the next start", async () => {
  expect(await afterPowerCut(new Error("EIO"))).toEqual({ done: false, reported: 1 });
  expect(await afterPowerCut(fault("storageFailed", "EIO"))).toEqual({ done: false, reported: 1 });
});
