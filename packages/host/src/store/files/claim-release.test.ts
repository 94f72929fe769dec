// Claims on a machine in memory: how they are released, and what a host does with those that dead hosts left.
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryMachine, settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit } from "../../../../../test/support/test-thread.ts";
import { ClaimFiles } from "./claim-files.ts";
import { encodeCommit } from "./commit-format.ts";

const [T, U] = [threadId(900), threadId(902)];
const DEAD = threadId(901);
const LIVING = threadId(903);

let machine: MemoryMachine;
let claims: ClaimFiles;
/** How often the index was flushed before a release, and whether that fails. */
let flushes: { count: number; running: number; most: number; fails: boolean; wait: Promise<void> };
beforeEach(() => {
  machine = new MemoryMachine();
  flushes = { count: 0, running: 0, most: 0, fails: false, wait: Promise.resolve() };
  claims = new ClaimFiles(machine.home, machine.platform(), async () => {
    flushes.count++;
    flushes.most = Math.max(flushes.most, ++flushes.running);
    await flushes.wait;
    flushes.running--;
    if (flushes.fails) throw new Error("the disk is full");
  });
});

const lineOf = (id: string): Buffer => encodeCommit(firstCommit(id));

describe("releasing a claim", () => {
  it("flushes the index first, one release of a thread after the other", async () => {
    let go = (): void => {};
    flushes.wait = new Promise((resolve) => {
      go = resolve;
    });
    await claims.take(T);
    claims.giveBack(T);
    claims.giveBack(T);
    await settled();
    expect([flushes.count, machine.files.text(`live/${T}`)]).toEqual([1, claims.hostId]);
    go();
    await settled();
    expect([flushes.count, flushes.most, machine.files.text(`live/${T}`)]).toEqual([2, 1, undefined]);
    expect(await claims.isLost(T)).toBe(false);
  });

  it("waits for the release before, whichever releases have ended already", async () => {
    const gates: (() => void)[] = [];
    const next = (): void => {
      flushes.wait = new Promise((resolve) => gates.push(resolve));
    };
    await claims.take(T);
    next();
    claims.giveBack(T);
    claims.giveBack(T);
    await settled();
    const [first] = gates;
    next();
    first!();
    await settled();
    claims.giveBack(T);
    await settled();
    expect([flushes.count, flushes.running]).toEqual([2, 1]);
    for (const go of gates) go();
    await settled();
    expect([flushes.count, flushes.most]).toEqual([3, 1]);
  });

  it.each<[string, (claims: ClaimFiles) => unknown]>([
    ["the host takes the thread again", (host) => host.take(T)],
    ["the thread needs recovery", (host) => host.markNeedsRecovery(T)],
  ])("does nothing if %s meanwhile", async (_, act) => {
    await claims.take(T);
    claims.giveBack(T);
    await act(claims);
    await settled();
    expect(machine.files.text(`live/${T}`)).toBe(claims.hostId);
  });

  it("is tried again five seconds after a failure, all overdue threads at once, each once", async () => {
    await claims.take(T);
    await claims.take(U);
    flushes.fails = true;
    claims.giveBack(T);
    claims.giveBack(U);
    await settled();
    expect(machine.waits).toEqual([5000]);
    await machine.pass(5000);
    await settled();
    expect([flushes.count, machine.waits]).toEqual([4, [5000]]);
    flushes.fails = false;
    await machine.pass(4999);
    expect(machine.files.under("live")).toContain(`live/${T}`);
    await machine.pass(1);
    await settled();
    expect([flushes.count, machine.waits]).toEqual([6, []]);
    expect(machine.files.under("live")).not.toContain(`live/${T}`);
    expect(machine.files.under("live")).not.toContain(`live/${U}`);
    await claims.close();
    expect(flushes.count).toBe(6);
  });

  it("is tried once more at the end of the host, and then no more", async () => {
    await claims.take(T);
    flushes.fails = true;
    claims.giveBack(T);
    await settled();
    await claims.close();
    expect([flushes.count, machine.waits]).toEqual([2, []]);
    expect(machine.files.text(`live/${T}`)).toBe(claims.hostId);
  });

  it.each([
    ["first", 0, 1],
    ["second", 1, 2],
  ])("is waited for at the end of the host: its %s attempt", async (_, failures, attempts) => {
    await claims.take(T);
    machine.files.fail("remove", T, { times: failures });
    claims.giveBack(T);
    if (failures > 0) await settled();
    const go = machine.files.hold("remove", T);
    let isClosed = false;
    const closing = claims.close().then(() => {
      isClosed = true;
    });
    await settled();
    expect([isClosed, flushes.count]).toEqual([false, attempts]);
    go();
    await closing;
    expect(machine.files.text(`live/${T}`)).toBeUndefined();
  });

  it("is tried once more if it fails while the host ends", async () => {
    await claims.take(T);
    const go = machine.files.hold("remove", T);
    machine.files.fail("remove", T);
    claims.giveBack(T);
    await settled();
    const closing = claims.close();
    await settled();
    go();
    await closing;
    expect([flushes.count, machine.files.text(`live/${T}`)]).toEqual([2, undefined]);
  });
});

describe("the start log of another host", () => {
  const made: string[] = [];
  const make = async (id: string, line: Uint8Array): Promise<void> => {
    made.push(`${id} ${machine.files.text(`live/${id}`)} ${Buffer.from(line).equals(lineOf(id))}`);
  };
  beforeEach(() => {
    made.length = 0;
    machine.files.put(`live/${DEAD}.starts`, Buffer.concat([lineOf(T), lineOf(U)]));
  });

  it("gives its threads to a dead host's claims, and is removed durably", async () => {
    await claims.takeUp(make);
    expect(made).toEqual([`${T} ${DEAD} true`, `${U} ${DEAD} true`]);
    expect(machine.files.taken()).toEqual([
      "create live/boot.mark",
      "append live/boot.mark",
      "fsync live/boot.mark",
      `claim live/${T} ${DEAD}`,
      `claim live/${U} ${DEAD}`,
      `remove live/${DEAD}.starts synced`,
    ]);
    await claims.takeUp(make);
    expect(made).toHaveLength(2);
  });

  it("is left alone while its host lives, also if that shows only under the lock", async () => {
    machine.revive(DEAD);
    await claims.takeUp(make);
    expect(machine.files.taken()).toEqual([]);
    machine.kill(DEAD);
    const go = machine.files.hold("readText", "boot.mark");
    const taken = claims.takeUp(make);
    await settled();
    machine.revive(DEAD);
    go();
    await taken;
    expect(made).toEqual([]);
    expect(machine.files.under("live")).toContain(`live/${DEAD}.starts`);
  });

  it("is left alone if it is this host's own", async () => {
    await claims.starts.add(T, lineOf(T), async () => {});
    await claims.takeUp(make);
    expect(made.filter((one) => one.includes(claims.hostId))).toEqual([]);
    expect(machine.files.text(`live/${claims.hostId}.starts`)).toBe(lineOf(T).toString());
  });

  it("stays if it has lines of a newer version, with marks at the threads that have a journal now", async () => {
    const newer = lineOf(U).toString().replace('"created"', '"begun"');
    machine.files.put(`live/${DEAD}.starts`, `${lineOf(T)}${newer}`);
    await claims.takeUp(make);
    expect(machine.files.text(`live/${DEAD}.starts`)).toBe(`${lineOf(T)}${newer}{"made":"${T}"}\n`);
    expect(machine.files.taken().slice(-2)).toEqual([
      `append live/${DEAD}.starts`,
      `fsync live/${DEAD}.starts`,
    ]);
    await claims.takeUp(make);
    expect([made.length, machine.files.taken(), machine.files.open]).toEqual([1, [], []]);
  });

  it("can recreate no thread that is about to be deleted, not even after a power cut", async () => {
    machine.revive(LIVING);
    machine.files.put(`live/${LIVING}.starts`, lineOf(U));
    await claims.starts.add(T, lineOf(T), async () => {});
    machine.files.taken();
    await claims.settleStarts(T, make);
    const changes = machine.files.taken();
    expect(changes[0]).toBe(`erase live/${claims.hostId}.starts 0+${lineOf(T).length - 1}`);
    expect(changes).toEqual(
      expect.arrayContaining([
        `remove live/${DEAD}.starts synced`,
        `sync live/${LIVING}.starts`,
        `sync live/${claims.hostId}.starts`,
      ]),
    );
    expect(changes.at(-1)).toBe("sync live");
    expect(changes.filter((one) => one.startsWith("sync"))).not.toContain("sync live/boot.mark");
  });
});

describe("the claims of a home", () => {
  it("are listed without locks and marks, whichever host has them", async () => {
    machine.files.putClaim(`live/${U}`, DEAD);
    await claims.take(T);
    expect(await claims.all()).toEqual([T, U]);
  });

  it("are abandoned if their host is dead; each host is looked at once", async () => {
    machine.revive(LIVING);
    const [one, two, three] = [threadId(910), threadId(911), threadId(912)];
    machine.files.putClaim(`live/${one}`, DEAD);
    machine.files.putClaim(`live/${two}`, LIVING);
    machine.files.putClaim(`live/${three}`, DEAD);
    machine.files.put("live/unreadable", "no claim");
    await claims.take(T);
    expect(await claims.abandoned()).toEqual([one, three]);
    expect(machine.looks).toEqual([`live/${DEAD}.lock`, `live/${LIVING}.lock`]);
  });

  it("are cleared of the locks and marks of dead hosts that have no claims", async () => {
    machine.revive(LIVING);
    for (const host of [DEAD, LIVING, "takeover"]) machine.files.put(`live/${host}.lock`, "");
    for (const host of [DEAD, LIVING]) machine.files.putClaim(`live/${host}.leaving`, host);
    await claims.announce();
    await claims.leave();
    machine.files.taken();
    expect(await claims.abandoned()).toEqual([]);
    expect(machine.files.taken()).toEqual([`remove live/${DEAD}.leaving`, `remove live/${DEAD}.lock`]);
    machine.files.put(`live/${U}.lock`, "");
    machine.files.putClaim(`live/${T}`, U);
    await claims.abandoned();
    expect(machine.files.taken()).toEqual([]);
  });
});

describe("the end of a host", () => {
  it("changes nothing if the host was never announced", async () => {
    machine.files.put("live/boot.mark", "boot 1");
    await claims.close();
    expect([machine.files.taken(), machine.acquired]).toEqual([[], []]);
  });

  it("removes the boot mark, then the mark of leaving, then the lock, all under the takeover lock", async () => {
    await claims.take(T);
    claims.giveBack(T);
    await claims.leave();
    machine.files.put("live/takeover.lock", "");
    await settled();
    machine.files.taken();
    machine.acquired.length = 0;
    await claims.close();
    expect(machine.files.taken()).toEqual([
      "remove live/boot.mark",
      `remove live/${claims.hostId}.leaving`,
      `remove live/${claims.hostId}.lock`,
    ]);
    expect(machine.acquired).toEqual(["live/takeover.lock"]);
    expect([...machine.locks]).toEqual([]);
  });

  it.each<[string, () => void]>([
    ["another host is there", () => machine.files.put(`live/${LIVING}.lock`, "")],
    ["a thread is claimed", () => machine.files.putClaim(`live/${T}`, DEAD)],
    ["a dead host has left a start log", () => machine.files.put(`live/${DEAD}.starts`, "")],
    ["the boot mark cannot be removed", () => machine.files.fail("remove", "boot.mark")],
  ])("leaves the boot mark if %s", async (_, prepare) => {
    await claims.take(U);
    claims.giveBack(U);
    await settled();
    prepare();
    await claims.close();
    expect(machine.files.text("live/boot.mark")).toBe("boot 1");
    expect(machine.files.text(`live/${claims.hostId}.lock`)).toBeUndefined();
  });

  it("releases the lock although its mark of leaving cannot be removed", async () => {
    await claims.announce();
    await claims.leave();
    machine.files.fail("remove", ".leaving");
    await claims.close();
    expect([...machine.locks]).toEqual([]);
  });

  it("closes the start log", async () => {
    await claims.announce();
    await claims.starts.add(T, lineOf(T), async () => {});
    expect(machine.files.open).toEqual([`live/${claims.hostId}.starts`]);
    await claims.close();
    expect(machine.files.open).toEqual([]);
  });

  it("closes once, however often it is asked to", async () => {
    await claims.announce();
    const first = claims.close();
    expect(claims.close()).toBe(first);
    await first;
    await claims.close();
    expect([...machine.locks]).toEqual([]);
  });
});
