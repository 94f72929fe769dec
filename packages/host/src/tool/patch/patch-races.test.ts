// Exchanges files and folders at each step of a patch, as a command that runs meanwhile can.
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { nodeFiles } from "../../platform/node-files.ts";
import { nodeWorkspace } from "../../platform/node-workspace-files.ts";
import type { AskedQuestion, Invocation, Step } from "../tool.ts";
import { type PatchPorts, patchToolSource } from "./apply-patch-tool.ts";

const files = nodeFiles();
const SIGNAL = new AbortController().signal;

/** Wraps all functions of an object so that `step` runs before each call. */
function stepped<T extends object>(target: T, step: () => Promise<void>): T {
  const wrapped = Object.entries(target).map(([name, value]) => [
    name,
    typeof value === "function"
      ? async (...args: unknown[]) => {
          await step();
          return (value as (...args: unknown[]) => unknown)(...args);
        }
      : value,
  ]);
  return Object.fromEntries(wrapped) as T;
}

/** A workspace and a folder outside of it with the same files, and the tool. */
class Stage {
  readonly work: string;
  readonly outside: string;
  readonly #invocation: Invocation;
  readonly #settings: Partial<ThreadSettings>;
  readonly #isSubject: boolean;
  steps = 0;
  at = 0;
  act: () => Promise<void> = async () => {};

  constructor(folder: string, patch: string, settings: Partial<ThreadSettings>, isSubject: boolean) {
    this.work = join(folder, "work");
    this.outside = join(folder, "outside");
    this.#settings = settings;
    this.#isSubject = isSubject;
    const thread = newThread();
    this.#invocation = {
      thread: {
        ...thread,
        settings: {
          ...thread.settings,
          ...this.#settings,
          cwd: this.work,
          roots: [this.work, join(this.work, "nested")],
        },
      },
      turnId: "t",
      call: { callId: "c", name: "apply_patch", namespace: null, arguments: "", kind: "custom" },
      args: `*** Begin Patch\n${patch}\n*** End Patch`,
      startedAt: 0,
      now: 0,
    };
  }

  static async of(
    patch: string,
    settings: Partial<ThreadSettings> = NEVER,
    isSubject = false,
  ): Promise<Stage> {
    const stage = new Stage(await freshFolder("patch"), patch, settings, isSubject);
    for (const folder of [join(stage.work, "sub"), stage.outside]) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "a.txt"), "one\n");
    }
    await writeFile(join(stage.work, "top.txt"), "one\n");
    return stage;
  }

  get tool() {
    const step = async (): Promise<void> => {
      if (++this.steps === this.at) await this.act();
    };
    const isInside = (path: string): boolean => !this.#isSubject || path.startsWith(`${this.work}/`);
    const view = files.within(async (path) => isInside(path) || path === this.work);
    const ports: PatchPorts = {
      ...stepped(
        {
          mayWrite: async (_: unknown, path: string) => isInside(await files.realPath(path)),
          unwritable: async () => null,
          guarded: async () => [],
        },
        step,
      ),
      clock: { monotonic: () => 0 },
      workspace: stepped(nodeWorkspace, step),
      files: stepped({ realPath: (path: string) => files.realPath(path) }, step),
      filesOf: () => stepped({ openRead: (path: string) => view.openRead(path) }, step),
    };
    return patchToolSource(ports).tools(this.#invocation.thread)[0]!;
  }

  async begin(): Promise<Step> {
    return this.tool.begin(this.#invocation);
  }

  async hear(name: string, decision: string): Promise<Step> {
    const asked = { name, method: "item/fileChange/requestApproval" } as AskedQuestion;
    return this.tool.heard!(this.#invocation, asked, { kind: "result", result: { decision } });
  }

  async perform({ plan }: Extract<Step, { kind: "dispatch" }>): Promise<Extract<Step, { kind: "settle" }>> {
    const perform = this.tool.perform as (one: Invocation, signal: AbortSignal) => Promise<Step>;
    const step = await perform({ ...this.#invocation, plan: JSON.parse(JSON.stringify(plan)) }, SIGNAL);
    if (step.kind !== "settle") throw new Error(JSON.stringify(step));
    return step;
  }

  /** The whole call, without approval. Resolves with whether the patch was applied. */
  async run(): Promise<boolean> {
    const step = await this.begin();
    return step.kind === "dispatch" && (await this.perform(step)).success === true;
  }

  /** Exchanges the folder `sub` for a link. */
  async linkOutside(): Promise<void> {
    await rename(join(this.work, "sub"), join(this.work, "sub.old"));
    await symlink(this.outside, join(this.work, "sub"));
  }

  /** Exchanges the folder `sub` for another one with the same files. */
  async otherFolder(): Promise<void> {
    await rename(join(this.work, "sub"), join(this.work, "sub.old"));
    await mkdir(join(this.work, "sub"));
    await writeFile(join(this.work, "sub", "a.txt"), "one\n");
  }

  /** Exchanges the file of `sub` for a link to the same file outside. */
  async linkFile(): Promise<void> {
    await rm(join(this.work, "sub", "a.txt"));
    await symlink(join(this.outside, "a.txt"), join(this.work, "sub", "a.txt"));
  }

  async expectOutsideUnchanged(when: string): Promise<void> {
    expect(await readdir(this.outside, { recursive: true }), when).toEqual(["a.txt"]);
    expect(await readFile(join(this.outside, "a.txt"), "utf8"), when).toBe("one\n");
  }
}

const NEVER: Partial<ThreadSettings> = {
  approvalPolicy: "never",
  sandbox: { type: "workspaceWrite", excludeSlashTmp: true, excludeTmpdirEnvVar: true },
};
const FULL: Partial<ThreadSettings> = { approvalPolicy: "never", sandbox: { type: "dangerFullAccess" } };
const READ_ONLY: Partial<ThreadSettings> = { approvalPolicy: "on-request", sandbox: { type: "readOnly" } };

const PATCHES: Readonly<Record<string, string>> = {
  "an update": "*** Update File: sub/a.txt\n@@\n-one\n+ONE",
  "a new file": "*** Add File: sub/new.txt\n+new",
  "a new file in new folders": "*** Add File: sub/x/y/new.txt\n+new",
  "a file that is replaced": "*** Add File: sub/a.txt\n+new",
  "a deletion": "*** Delete File: sub/a.txt",
  "a move into the folder": "*** Update File: top.txt\n*** Move to: sub/moved.txt\n@@\n-one\n+ONE",
  "a move out of the folder": "*** Update File: sub/a.txt\n*** Move to: moved.txt\n@@\n-one\n+ONE",
};

describe.each(Object.entries(PATCHES))("a patch with %s", (_, patch) => {
  it.each([
    ["the host's own user", NEVER, false],
    ["a subject", FULL, true],
  ] as const)(
    "[PATCH-18] of %s changes nothing outside, whenever its folder becomes a link",
    async (...args) => {
      const [, settings, isSubject] = args;
      const whole = await Stage.of(patch, settings, isSubject);
      expect(await whole.run()).toBe(true);
      expect(whole.steps).toBeGreaterThan(5);
      for (const exchange of ["linkOutside", "linkFile"] as const) {
        for (let at = 1; at <= whole.steps; at++) {
          const stage = await Stage.of(patch, settings, isSubject);
          stage.at = at;
          stage.act = () => stage[exchange]();
          await stage.run();
          await stage.expectOutsideUnchanged(`${exchange} before step ${at} of ${whole.steps}`);
        }
      }
    },
  );

  it("[PATCH-18] is not applied in another folder than the one that was judged", async () => {
    const stage = await Stage.of(patch);
    const step = await stage.begin();
    if (step.kind !== "dispatch") throw new Error(JSON.stringify(step));
    await stage.otherFolder();
    expect(await stage.perform(step)).toMatchObject({
      success: false,
      output: expect.stringContaining("is another folder now"),
    });
    expect(await readdir(join(stage.work, "sub"))).toEqual(["a.txt"]);
    expect(await readFile(join(stage.work, "sub", "a.txt"), "utf8")).toBe("one\n");
    expect((await readdir(stage.work)).sort()).toEqual(["sub", "sub.old", "top.txt"]);
  });
});

describe("a folder of the workspace inside another one", () => {
  const patch = "*** Add File: nested/new.txt\n+new";

  it("[PATCH-18] takes patches as long as it is a folder", async () => {
    const stage = await Stage.of(patch);
    expect(await stage.run()).toBe(true);
  });

  it("[PATCH-18] takes none once it is a link that a command can have made", async () => {
    const stage = await Stage.of(patch);
    await symlink(stage.outside, join(stage.work, "nested"));
    expect(await stage.run()).toBe(false);
    await stage.expectOutsideUnchanged("");
  });
});

describe("an approved patch", () => {
  const MOVE = "*** Update File: sub/a.txt\n*** Move to: ../outside/moved.txt\n@@\n-one\n+ONE";

  async function asked(): Promise<{ stage: Stage; question: string }> {
    const stage = await Stage.of(MOVE, READ_ONLY);
    const step = await stage.begin();
    if (step.kind !== "ask") throw new Error(JSON.stringify(step));
    return { stage, question: step.question! };
  }

  it("[PATCH-19] is applied if everything is as it was shown", async () => {
    const { stage, question } = await asked();
    const step = await stage.hear(question, "accept");
    if (step.kind !== "dispatch") throw new Error(JSON.stringify(step));
    expect(await stage.perform(step)).toMatchObject({ success: true });
    expect(await readFile(join(stage.outside, "moved.txt"), "utf8")).toBe("ONE\n");
  });

  const changes: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
    "other content is moved": (stage) => writeFile(join(stage.work, "sub", "a.txt"), "one\nevil\n"),
    "a file is at the target": (stage) => writeFile(join(stage.outside, "moved.txt"), "mine\n"),
    "the source is in another folder": (stage) => stage.otherFolder(),
    "the source is a link": (stage) => stage.linkFile(),
  };

  it.each(
    Object.entries(changes).flatMap(([what, change]) =>
      ["accept", "acceptForSession"].map((decision) => [what, decision, change] as const),
    ),
  )("[PATCH-19] is not applied if %s before the answer (%s)", async (_, decision, change) => {
    const { stage, question } = await asked();
    await change(stage);
    const before = await readdir(stage.outside);
    const step = await stage.hear(question, decision);
    const end = step.kind === "dispatch" ? await stage.perform(step) : step;
    expect(end).toMatchObject({ kind: "settle", success: false });
    expect(await readdir(stage.outside)).toEqual(before);
  });

  it.each(Object.entries(changes))("[PATCH-19] is not applied if %s after the answer", async (_, change) => {
    const { stage, question } = await asked();
    const step = await stage.hear(question, "accept");
    if (step.kind !== "dispatch") throw new Error(JSON.stringify(step));
    await change(stage);
    const before = await readdir(stage.outside);
    expect(await stage.perform(step)).toMatchObject({ success: false });
    expect(await readdir(stage.outside)).toEqual(before);
  });
});
