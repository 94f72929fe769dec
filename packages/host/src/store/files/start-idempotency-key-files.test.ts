import { beforeEach, describe, expect, it } from "vitest";
import { MemoryMachine, settled } from "../../../../../test/support/memory-machine.ts";
import { ClaimFiles } from "./claim-files.ts";
import { StartIdempotencyKeyFiles } from "./start-idempotency-key-files.ts";

describe("reserving a key", () => {
  let machine: MemoryMachine;
  let claims: ClaimFiles;
  let stored: Set<string>;
  let keys: StartIdempotencyKeyFiles;
  beforeEach(() => {
    machine = new MemoryMachine();
    claims = new ClaimFiles(machine.home, machine.platform(), async () => {});
    stored = new Set();
    keys = new StartIdempotencyKeyFiles(machine.home, machine.files, claims, async (id) => stored.has(id));
  });

  it("announces the host, and stores the thread with the host", async () => {
    expect(await keys.reserve("k", "t1")).toBe("t1");
    expect(machine.files.text("start_keys/k")).toBe(`t1 ${claims.hostId}`);
    expect(machine.locks.size).toBe(1);
    expect(await keys.reserve("k", "t2")).toBe("t1");
    await keys.forget("k");
    expect(await keys.reserve("k", "t2")).toBe("t2");
  });

  it("gives the thread of another host if that thread is stored, without a wait", async () => {
    machine.revive("other");
    machine.files.putClaim("start_keys/k", "t1 other");
    stored.add("t1");
    expect(await keys.reserve("k", "t2")).toBe("t1");
    expect([machine.now, machine.looks]).toEqual([0, []]);
  });

  it("gives the thread that a host stores before it ends", async () => {
    machine.revive("other");
    machine.files.putClaim("start_keys/k", "t1 other");
    const reserved = keys.reserve("k", "t2");
    await machine.pass(100);
    stored.add("t1");
    machine.kill("other");
    await machine.pass(20);
    expect(await reserved).toBe("t1");
  });

  it("fails while another host may still create the thread", async () => {
    machine.revive("other");
    machine.files.putClaim("start_keys/k", "t1 other");
    const failed = expect(keys.reserve("k", "t2")).rejects.toMatchObject({ code: "heldElsewhere" });
    await machine.pass(600);
    await failed;
    expect(machine.files.text("start_keys/k")).toBe("t1 other");
  });

  it("takes the key of a dead host that has not created its thread", async () => {
    machine.files.putClaim("start_keys/k", "t1 dead");
    expect(await keys.reserve("k", "t2")).toBe("t2");
    expect(machine.files.text("start_keys/k")).toBe(`t2 ${claims.hostId}`);
    expect(machine.acquired).toEqual(["live/takeover.lock"]);
  });

  it("leaves the key to a host that has taken it from the dead one meanwhile", async () => {
    machine.files.putClaim("start_keys/k", "t1 dead");
    machine.revive("other");
    stored.add("t3");
    const first = machine.files.hold("claimed", "start_keys/k");
    const reserved = keys.reserve("k", "t2");
    await settled();
    const second = machine.files.hold("claimed", "start_keys/k");
    first();
    await settled();
    machine.files.putClaim("start_keys/k", "t3 other");
    second();
    expect(await reserved).toBe("t3");
    expect(machine.files.text("start_keys/k")).toBe("t3 other");
  });

  it("tries again if the key is released meanwhile", async () => {
    machine.files.putClaim("start_keys/k", "t1 dead");
    const go = machine.files.hold("claimed", "start_keys/k");
    const reserved = keys.reserve("k", "t2");
    await settled();
    await keys.forget("k");
    go();
    expect(await reserved).toBe("t2");
  });

  it("removes the oldest keys when there are 4,608, and then again after 512 more", async () => {
    const name = (nth: number): string => `k${nth}`;
    const put = (from: number, to: number): void => {
      for (let nth = from; nth < to; nth++)
        machine.files.putClaim(`start_keys/${name(nth)}`, `${String(nth).padStart(6, "0")} h`);
    };
    put(0, 4606);
    expect(await keys.reserve("first", "900000")).toBe("900000");
    expect(machine.files.under("start_keys")).toHaveLength(4607);
    await keys.reserve("second", "900001");
    expect(machine.files.under("start_keys")).toHaveLength(4096);
    expect(machine.files.text("start_keys/k511")).toBeUndefined();
    expect(machine.files.text("start_keys/k512")).toBeDefined();
    for (let nth = 0; nth < 511; nth++) await keys.reserve(`next ${nth}`, `9001${nth}`);
    expect(machine.files.under("start_keys")).toHaveLength(4607);
    await keys.reserve("last", "99");
    expect(machine.files.under("start_keys")).toHaveLength(4096);
  });
});
