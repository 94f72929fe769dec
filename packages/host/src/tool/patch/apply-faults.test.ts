// Lets the host crash, or the disk be full, at each step of a patch, and checks the files.
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { ThreadState, TurnState } from "../../core/state.ts";
import type { ReadFile, WorkspaceFiles } from "../../platform/platform.ts";
import type { Invocation, Step } from "../tool.ts";
import { patchToolSource } from "./apply-patch-tool.ts";

const BEFORE: Readonly<Record<string, string>> = {
  "/work/a.txt": "one\ntwo\n",
  "/work/b.txt": "b\n",
  "/work/gone.txt": "gone\n",
  "/work/old-name.txt": "moved\n",
  "/work/over.txt": "overwritten\n",
};
const AFTER: Readonly<Record<string, string>> = {
  "/work/a.txt": "ONE\ntwo\n",
  "/work/b.txt": "B\n",
  "/work/new.txt": "new\n",
  "/work/sub/new-name.txt": "MOVED\n",
  "/work/over.txt": "replaced\n",
};
const PATCH = [
  "*** Begin Patch",
  ...["*** Update File: a.txt", "@@", "-one", "+ONE"],
  ...["*** Delete File: gone.txt"],
  ...["*** Add File: new.txt", "+new"],
  ...["*** Update File: old-name.txt", "*** Move to: sub/new-name.txt", "@@", "-moved", "+MOVED"],
  ...["*** Update File: b.txt", "@@", "-b", "+B"],
  ...["*** Add File: over.txt", "+replaced"],
  "*** End Patch",
].join("\n");

type When = "before" | "after";
/** The fault at a step: the host stops, or nothing can be written any more. */
interface Fault {
  readonly step: number;
  readonly kind: "kill" | "full once" | "full";
  readonly when: When;
}

/** Files in memory whose steps are counted. */
class Disk {
  readonly files = new Map(Object.entries(BEFORE));
  /** The files that a killed host has left a draft of. */
  readonly drafts = new Set<string>();
  steps = 0;
  fault: Fault | undefined;
  #dead = false;

  get content(): Record<string, string> {
    return Object.fromEntries(this.files);
  }

  readonly workspace: WorkspaceFiles = {
    hold: async () => undefined,
    makeFolder: async () => false,
    removeFolder: async () => {},
    read: async (path) => {
      this.#step("before", false);
      const text = this.files.get(path);
      this.#step("after", false);
      return text === undefined ? undefined : { bytes: Buffer.from(text), mode: 0o644 };
    },
    locate: async (path) => ({ path, folder: { path: dirname(path), id: "1" } }),
    replace: async (path, bytes) => {
      this.#step("before", true);
      this.drafts.add(path);
      this.files.set(path, Buffer.from(bytes).toString());
      this.#step("after", false);
      this.drafts.delete(path);
      return undefined;
    },
    removeDrafts: async (path) => void this.drafts.delete(path),
    remove: async (path) => {
      this.#step("before", false);
      this.files.delete(path);
      this.#step("after", false);
    },
  };

  open = async (path: string): Promise<ReadFile | undefined> => {
    const text = this.files.get(path);
    if (text === undefined) return undefined;
    const bytes = Buffer.from(text);
    return {
      size: async () => bytes.length,
      read: async (position, length) => bytes.subarray(position, position + length),
      close: async () => {},
    };
  };

  repair(): void {
    this.fault = undefined;
    this.#dead = false;
  }

  #step(when: When, writes: boolean): void {
    if (when === "before") this.steps++;
    const { fault } = this;
    if (this.#dead) throw new Error("the host is dead");
    if (fault === undefined) return;
    if (fault.kind === "kill") {
      if (fault.step !== this.steps || fault.when !== when) return;
      this.#dead = true;
      throw new Error("the host dies");
    }
    const isFull = fault.kind === "full" ? this.steps >= fault.step : this.steps === fault.step;
    if (writes && isFull) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  }
}

function stage() {
  const disk = new Disk();
  const { workspace, open } = disk;
  const source = patchToolSource({
    clock: { monotonic: () => 0 },
    workspace,
    files: { realPath: async (path) => path },
    filesOf: () => ({ openRead: open }),
    mayWrite: async () => true,
    unwritable: async () => null,
    guarded: async () => [],
  });
  const thread: ThreadState = newThread();
  const settings = { ...thread.settings, sandbox: { type: "dangerFullAccess" } as const };
  const invocation = {
    thread: { ...thread, settings },
    turnId: "t",
    call: { callId: "c", name: "apply_patch", namespace: null, arguments: "", kind: "custom" },
    args: PATCH,
    startedAt: 0,
    now: 0,
  } satisfies Invocation;
  const [tool] = source.tools(invocation.thread);
  const perform = tool!.perform as (one: Invocation, signal: AbortSignal) => Promise<Step>;
  let plan: unknown;
  return {
    disk,
    async begin(): Promise<void> {
      const step = await tool!.begin(invocation);
      if (step.kind !== "dispatch") throw new Error(JSON.stringify(step));
      // As it is read from a journal.
      plan = JSON.parse(JSON.stringify(step.plan));
    },
    async perform(recorded = plan, lostHosts = 0): Promise<Extract<Step, { kind: "settle" }>> {
      const adopted = {
        ...invocation.thread,
        turn: { lostHosts, open: [] as const } as unknown as TurnState,
      };
      const step = await perform(
        { ...invocation, thread: adopted, plan: recorded },
        new AbortController().signal,
      );
      if (step.kind !== "settle") throw new Error(JSON.stringify(step));
      return step;
    },
  };
}

async function countSteps(): Promise<number> {
  const { disk, begin, perform } = stage();
  await begin();
  expect(await perform()).toMatchObject({ success: true });
  expect(disk.content).toEqual(AFTER);
  return disk.steps;
}

/** Each file is as it was or as it is to become. */
function expectWhole(content: Readonly<Record<string, string>>): void {
  for (const path of Object.keys({ ...BEFORE, ...AFTER }))
    expect([BEFORE[path], AFTER[path]], path).toContain(content[path]);
}

describe("a patch of six files", () => {
  it("[PATCH-13] is finished by the next host, without drafts, wherever its own dies", async () => {
    const steps = await countSteps();
    expect(steps).toBeGreaterThan(10);
    for (const when of ["before", "after"] as const) {
      for (let step = 1; step <= steps; step++) {
        const { disk, begin, perform } = stage();
        await begin();
        disk.fault = { step, kind: "kill", when };
        await perform().catch(() => {});
        expectWhole(disk.content);
        disk.repair();
        expect((await perform(undefined, 1)).success, `dies ${when} step ${step}`).toBe(true);
        expect(disk.content, `dies ${when} step ${step}`).toEqual(AFTER);
        expect([...disk.drafts]).toEqual([]);
      }
    }
  });

  it("[PATCH-13] leaves all files as they were where the disk is full at one of its steps", async () => {
    const steps = await countSteps();
    let failed = 0;
    for (let step = 1; step <= steps; step++) {
      const { disk, begin, perform } = stage();
      await begin();
      disk.fault = { step, kind: "full once", when: "before" };
      const { success, output } = await perform();
      expect(disk.content, `full at step ${step}`).toEqual(success ? AFTER : BEFORE);
      if (success) continue;
      failed++;
      expect(output).toContain("no space left on device");
      expect(output).toContain("No file was changed.");
    }
    expect(failed).toBe(5);
  });

  it("[PATCH-13] names the files that stay new where the disk stays full", async () => {
    const steps = await countSteps();
    for (let step = 1; step <= steps; step++) {
      const { disk, begin, perform } = stage();
      await begin();
      disk.fault = { step, kind: "full", when: "before" };
      const { success, output } = await perform();
      expectWhole(disk.content);
      if (success) continue;
      const now = disk.content;
      const changed = Object.keys({ ...BEFORE, ...AFTER }).filter((path) => now[path] !== BEFORE[path]);
      for (const path of changed) expect(output, `full from step ${step}`).toContain(path);
      if (changed.length === 0) expect(output).toContain("No file was changed.");
    }
  });

  it.each([
    null,
    7,
    {},
    { files: null, allowed: [] },
    { files: [null], allowed: [] },
    { files: [{ path: 7, before: null, after: null }], allowed: [] },
    { files: [{ path: "/work/a.txt", before: null }], allowed: [] },
    { files: [{ path: "/work/gone.txt", before: null, after: null }] },
  ])("[DAMAGE-3] changes nothing if its plan in the journal is damaged: %j", async (damaged) => {
    const { disk, perform } = stage();
    expect(await perform(damaged)).toMatchObject({
      success: false,
      output: expect.stringMatching(/^The journal is damaged/),
      item: { type: "fileChange", status: "failed" },
    });
    expect(disk.content).toEqual(BEFORE);
  });
});
