// Claims on a machine in memory: who may take a thread when, and what is on the disk in which order.
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryMachine, settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { ClaimFiles } from "./claim-files.ts";

const T = threadId(900);
const OTHER = threadId(901);

let machine: MemoryMachine;
let claims: ClaimFiles;
beforeEach(() => {
  machine = new MemoryMachine();
  claims = new ClaimFiles(machine.home, machine.platform(), async () => {});
});

/** Another host that is alive, with a claim on the thread. */
function heldByOther(thread = T): void {
  machine.revive(OTHER);
  machine.files.putClaim(`live/${thread}`, OTHER);
}

/** Takes the thread, and notes when that ended. */
function taking(): { result?: string | undefined; endedAt?: number } {
  const seen: { result?: string | undefined; endedAt?: number } = {};
  void claims.take(T).then((result) => Object.assign(seen, { result, endedAt: machine.now }));
  return seen;
}

describe("taking a free thread", () => {
  it("writes the boot mark durably before the claim, both once", async () => {
    expect(await claims.take(T)).toBeUndefined();
    expect(machine.files.taken()).toEqual([
      "create live/boot.mark",
      "append live/boot.mark",
      "fsync live/boot.mark",
      `claim live/${T} ${claims.hostId}`,
    ]);
    expect(await claims.take(T)).toBeUndefined();
    await claims.take(threadId(902));
    expect(machine.files.taken()).toEqual([`claim live/${threadId(902)} ${claims.hostId}`]);
    expect(claims.needsRecovery(T)).toBe(false);
  });

  it("waits until an earlier claim of this host is removed", async () => {
    await claims.take(T);
    const go = machine.files.hold("remove", T);
    claims.giveBack(T);
    await settled();
    const seen = taking();
    await settled();
    expect(seen).toEqual({});
    go();
    await settled();
    expect(seen).toEqual({ result: undefined, endedAt: 0 });
    expect(machine.files.text(`live/${T}`)).toBe(claims.hostId);
  });

  it("is not hindered by a claim of this host whose removal failed", async () => {
    await claims.take(T);
    machine.files.fail("remove", T);
    claims.giveBack(T);
    await settled();
    expect(await claims.take(T)).toBeUndefined();
    expect([claims.needsRecovery(T), machine.files.text(`live/${T}`)]).toEqual([false, claims.hostId]);
  });

  it("leaves no trace in this host if it fails", async () => {
    heldByOther();
    machine.files.fail("claim", T);
    await expect(claims.take(T)).rejects.toMatchObject({ code: "EIO" });
    expect(await claims.holders.of(T)).toBe(OTHER);
  });
});

describe("taking a thread of a living host", () => {
  it.each([
    ["half a second", false, 520],
    ["ten seconds if that host has announced its end", true, 10_020],
  ])("waits %s, and then names the host", async (_, isLeaving, endedAt) => {
    heldByOther();
    if (isLeaving) machine.files.putClaim(`live/${OTHER}.leaving`, OTHER);
    const seen = taking();
    await machine.pass(endedAt - 1);
    expect(seen).toEqual({});
    await machine.pass(1);
    expect(seen).toEqual({ result: OTHER, endedAt });
    expect(await claims.holders.of(T)).toBe(OTHER);
    expect(machine.files.text(`live/${T}`)).toBe(OTHER);
    expect(machine.waits).toEqual([]);
  });

  it("throws `heldElsewhere` if it must be taken", async () => {
    heldByOther();
    const taken = expect(claims.mustTake(T)).rejects.toMatchObject({ code: "heldElsewhere" });
    await machine.pass(1000);
    await taken;
  });

  it("succeeds when that host dies meanwhile, and the thread needs recovery", async () => {
    heldByOther();
    const seen = taking();
    await machine.pass(290);
    // While it waits, the thread counts as this host's own.
    expect(await claims.holders.of(T)).toBeUndefined();
    machine.kill(OTHER);
    await machine.pass(20);
    expect(seen).toEqual({ result: undefined, endedAt: 300 });
    expect(machine.files.text(`live/${T}`)).toBe(claims.hostId);
    expect(claims.needsRecovery(T)).toBe(true);
  });

  it("succeeds when that host releases it meanwhile, without recovery", async () => {
    heldByOther();
    const go = machine.files.hold("claimed", T);
    const seen = taking();
    await settled();
    await machine.files.remove(`${machine.home}/live/${T}`);
    go();
    await settled();
    expect(seen).toEqual({ result: undefined, endedAt: 0 });
    expect([claims.needsRecovery(T), machine.files.text(`live/${T}`)]).toEqual([false, claims.hostId]);
  });

  it("is lost to a third host that is quicker after the release", async () => {
    const third = threadId(903);
    heldByOther();
    machine.revive(third);
    const [read, claim] = [machine.files.hold("claimed", T), () => machine.files.hold("claim", T)];
    const seen = taking();
    await settled();
    await machine.files.remove(`${machine.home}/live/${T}`);
    const go = claim();
    read();
    await settled();
    machine.files.putClaim(`live/${T}`, third);
    go();
    await machine.pass(520);
    expect(seen).toEqual({ result: third, endedAt: 520 });
    expect(machine.files.text(`live/${T}`)).toBe(third);
  });
});

describe("a claim of a dead host", () => {
  it("is replaced by one rename, whatever an earlier attempt left", async () => {
    machine.files.putClaim(`live/${T}`, OTHER);
    machine.files.putClaim(`live/${T}.taken`, "a host that died in between");
    await claims.take(threadId(902));
    machine.files.taken();
    expect(await claims.take(T)).toBeUndefined();
    expect(machine.files.taken()).toEqual([
      `remove live/${T}.taken`,
      `claim live/${T}.taken ${claims.hostId}`,
      `rename live/${T}.taken live/${T} unsynced`,
    ]);
    expect([claims.needsRecovery(T), machine.files.text(`live/${T}`)]).toEqual([true, claims.hostId]);
    claims.markRecovered(T);
    expect(claims.needsRecovery(T)).toBe(false);
  });

  it("is replaced under the lock, after one look at whether its host lives", async () => {
    for (const nth of [910, 911, 912]) machine.files.putClaim(`live/${threadId(nth)}`, OTHER);
    await claims.announce();
    await claims.power.make();
    machine.acquired.length = 0;
    for (const nth of [910, 911, 912]) await claims.mustTake(threadId(nth));
    expect(machine.looks).toEqual([`live/${OTHER}.lock`]);
    expect(machine.acquired).toEqual(["live/takeover.lock", "live/takeover.lock", "live/takeover.lock"]);
  });
});

describe("the holder of a thread that must be gone", () => {
  it("is waited for, and named if it stays", async () => {
    machine.revive(OTHER);
    const failed = expect(claims.mustBeGone(T, OTHER)).rejects.toMatchObject({ code: "heldElsewhere" });
    await machine.pass(520);
    await failed;
    let isGone = false;
    const gone = claims.mustBeGone(T, OTHER).then(() => {
      isGone = true;
    });
    await machine.pass(100);
    expect(isGone).toBe(false);
    machine.kill(OTHER);
    await machine.pass(20);
    await gone;
  });
});

describe("a thread of this host", () => {
  it("is lost only when its claim names another host", async () => {
    machine.files.putClaim(`live/${T}`, "a dead host");
    expect(await claims.isLost(T)).toBe(false);
    await claims.take(T);
    expect(await claims.isLost(T)).toBe(false);
    await machine.files.remove(`${machine.home}/live/${T}`);
    expect(await claims.isLost(T)).toBe(false);
    claims.markNeedsRecovery(T);
    heldByOther();
    expect(await claims.holders.of(T)).toBeUndefined();
    expect(await claims.isLost(T)).toBe(true);
    expect(await claims.holders.of(T)).toBe(OTHER);
    expect(claims.needsRecovery(T)).toBe(false);
    expect(await claims.isLost(T)).toBe(false);
  });
});

describe("the announcement of a host", () => {
  it("is made once, and again after a failure", async () => {
    machine.announceFailure = new Error("no lock");
    await expect(claims.announce()).rejects.toThrow("no lock");
    machine.announceFailure = undefined;
    await claims.announce();
    expect(machine.files.under("live")).toEqual([`live/${claims.hostId}.lock`]);
    machine.announceFailure = new Error("a second announcement");
    await claims.announce();
  });

  it("names the home if that is on a network file system", async () => {
    machine.announceFailure = Object.assign(new Error("network"), { code: "ENETFS" });
    await expect(claims.announce()).rejects.toMatchObject({
      code: "networkHome",
      message: expect.stringContaining(machine.home),
    });
  });
});

describe("the mark of a host that is about to end", () => {
  it("is written by a host that others know, and its failure does not matter", async () => {
    await claims.leave();
    expect(machine.files.taken()).toEqual([]);
    await claims.announce();
    machine.files.fail("claim", ".leaving");
    await claims.leave();
    await claims.leave();
    expect(machine.files.taken()).toEqual([`claim live/${claims.hostId}.leaving ${claims.hostId}`]);
  });
});
