import { mkdtemp, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { nodePlatform } from "../../platform/node.ts";
import type { Platform } from "../../platform/platform.ts";
import { ClaimFiles } from "./claim-files.ts";

let home: string;
let opened: Set<ClaimFiles>;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "bobbin-claims-"));
  opened = new Set();
});
afterEach(async () => {
  for (const claims of opened) await ended(claims);
  await rm(home, { recursive: true });
});

/** A host whose long timers run when the test says so, and whose writes before a release can fail. */
function host() {
  const platform = nodePlatform();
  const due: (() => void)[] = [];
  const state = { isFull: false };
  const timers: Platform["timers"] = {
    ...platform.timers,
    soon: (run) => platform.timers.soon(run),
    after(ms, run) {
      if (ms < 1000) return platform.timers.after(ms, run);
      due.push(run);
      return () => void due.splice(0, due.length, ...due.filter((one) => one !== run));
    },
  };
  const claims = new ClaimFiles(home, { ...platform, timers }, async () => {
    if (state.isFull) throw new Error("the disk is full");
  });
  opened.add(claims);
  return { claims, due, state };
}

async function ended(claims: ClaimFiles): Promise<void> {
  opened.delete(claims);
  await claims.close();
}

const holderOf = (threadId: string) => readlink(join(home, "live", threadId)).catch(() => undefined);

describe("a claim", () => {
  it("belongs to one host, until that gives it back", async () => {
    const [one, two] = [host(), host()];
    expect(await one.claims.take("t")).toBeUndefined();
    expect(await one.claims.take("t")).toBeUndefined();
    expect(await two.claims.take("t")).toBe(one.claims.hostId);
    await expect(two.claims.mustTake("t")).rejects.toMatchObject({ code: "heldElsewhere" });
    one.claims.giveBack("t");
    await eventually(async () => (await holderOf("t")) === undefined, "the claim is gone");
    await two.claims.mustTake("t");
    expect(await holderOf("t")).toBe(two.claims.hostId);
    expect(two.claims.needsRecovery("t")).toBe(false);
  });

  it("stays if its host takes the thread again at once, or must recover it", async () => {
    const { claims } = host();
    await claims.take("t");
    claims.giveBack("t");
    await claims.take("t");
    await claims.take("broken");
    claims.markNeedsRecovery("broken");
    claims.giveBack("broken");
    await ended(claims);
    expect(await holderOf("t")).toBe(claims.hostId);
    expect(await holderOf("broken")).toBe(claims.hostId);
  });

  it("of a host that died is taken over, and the thread must be recovered", async () => {
    const [one, two] = [host(), host()];
    await one.claims.take("t");
    one.claims.markNeedsRecovery("t");
    // All that others see of its death is that its lock is free.
    await ended(one.claims);
    expect(await two.claims.abandoned()).toEqual(["t"]);
    expect(await two.claims.take("t")).toBeUndefined();
    expect(two.claims.needsRecovery("t")).toBe(true);
    expect(await one.claims.isLost("t")).toBe(true);
    expect(await one.claims.isLost("t")).toBe(false);
    expect(await two.claims.isLost("t")).toBe(false);
    expect(await two.claims.all()).toEqual(["t"]);
    two.claims.markRecovered("t");
    expect(two.claims.needsRecovery("t")).toBe(false);
  });
});

it("forgets that a thread was to be recovered when another host has taken it over", async () => {
  const [one, two] = [host(), host()];
  await one.claims.take("t");
  one.claims.markNeedsRecovery("t");
  await ended(one.claims);
  expect(one.claims.needsRecovery("t")).toBe(true);
  await two.claims.mustTake("t");
  expect(await one.claims.isLost("t")).toBe(true);
  expect(one.claims.needsRecovery("t")).toBe(false);
});

describe("a claim that cannot be given back", () => {
  it("is given back later, once, and never takes away that of another host", async () => {
    const [one, two] = [host(), host()];
    await one.claims.take("t");
    await one.claims.take("other");
    one.state.isFull = true;
    one.claims.giveBack("t");
    await eventually(() => one.due.length === 1, "another attempt is due");
    expect(await holderOf("t")).toBe(one.claims.hostId);
    one.state.isFull = false;
    one.due.shift()!();
    await eventually(async () => (await holderOf("t")) === undefined, "the claim is gone");
    await two.claims.mustTake("t");
    // The next failure is about another thread.
    one.state.isFull = true;
    one.claims.giveBack("other");
    await eventually(() => one.due.length === 1, "another attempt is due");
    one.state.isFull = false;
    one.due.shift()!();
    await eventually(async () => (await holderOf("other")) === undefined, "the claim is gone");
    await ended(one.claims);
    expect(await holderOf("t")).toBe(two.claims.hostId);
  });

  it("is tried once more when the host ends, and stays for the next one if that fails, too", async () => {
    const [good, bad] = [host(), host()];
    await good.claims.take("a");
    await bad.claims.take("b");
    for (const { state } of [good, bad]) state.isFull = true;
    good.claims.giveBack("a");
    bad.claims.giveBack("b");
    await eventually(() => good.due.length + bad.due.length === 2, "other attempts are due");
    good.state.isFull = false;
    await ended(good.claims);
    await ended(bad.claims);
    expect(await holderOf("a")).toBeUndefined();
    expect(await holderOf("b")).toBe(bad.claims.hostId);
  });
});

it("removes the lock and the mark of a dead host once nobody needs them to judge its claims", async () => {
  const { claims } = host();
  await claims.take("own");
  const live = join(home, "live");
  for (const name of ["gone.lock", "gone-too.lock.new", "gone.leaving", "owner.lock", "rules.lock"])
    await writeFile(join(live, name), "");
  await symlink("owner", join(live, "left"));
  expect(await claims.abandoned()).toEqual(["left"]);
  const names = await readdir(live);
  expect(names.filter((name) => name.startsWith("gone"))).toEqual([]);
  expect(names).toEqual(
    expect.arrayContaining(["owner.lock", "rules.lock", "left", "own", `${claims.hostId}.lock`]),
  );
});

it("leaves nothing behind when the last host ends", async () => {
  const [one, two] = [host(), host()];
  await one.claims.take("t");
  await two.claims.take("u");
  one.claims.giveBack("t");
  two.claims.giveBack("u");
  await one.claims.leave();
  await ended(one.claims);
  expect(await readdir(join(home, "live"))).toContain("boot.mark");
  await ended(two.claims);
  const left = (await readdir(join(home, "live"))).filter((name) => name !== "takeover.lock");
  expect(left).toEqual([]);
});
