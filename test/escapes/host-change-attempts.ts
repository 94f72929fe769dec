// Commands that exchange a folder for a link, again and again, while the host changes files there.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { nodeFiles } from "../../packages/host/src/platform/node-files.ts";
import { nodeWorkspace } from "../../packages/host/src/platform/node-workspace-files.ts";
import { patchTool } from "../../packages/host/src/tool/patch/apply-patch-tool.ts";
import type { Invocation, Step } from "../../packages/host/src/tool/tool.ts";
import { newThread } from "../support/test-thread.ts";
import type { Attempt } from "./attempt.ts";
import { type Stage, workspaceWrite } from "./stage.ts";

/** How often the host changes a file. Each change meets the exchange at another moment. */
const TRIES = 100;

export const HOST_CHANGE_ATTEMPTS: readonly Attempt[] = [
  {
    id: "patch-exchange",
    tries: "exchange a folder for a link while the host applies patches there",
    setting: "workspace-write",
    how: { play: (stage) => comesThroughLink(stage, (folder, nth) => patch(stage, folder, nth)) },
  },
  {
    id: "restore-exchange",
    tries: "exchange a folder for a link while the host restores files there",
    setting: "workspace-write",
    how: {
      play: (stage) =>
        comesThroughLink(stage, async (folder, nth) => {
          const path = join(folder, `new-${nth}`, "file");
          const isAllowed = (real: string): boolean => real === path;
          await nodeWorkspace.replace(path, Buffer.from("x"), { mode: undefined, isAllowed }).catch(() => {});
        }),
    },
  },
];

const EXCHANGE = `
mkdir -p exchanged && perl -e 'for (;;) {
  rename "exchanged", "exchanged.old"; symlink $ENV{OUTSIDE}, "exchanged";
  unlink "exchanged"; rename "exchanged.old", "exchanged";
}' & echo ready; read go; kill $!; wait; [ ! -L exchanged ] || rm exchanged; rm -rf exchanged exchanged.old`;

/** Runs changes of the host in a folder that a command exchanges for a link; whether a change appears outside. */
async function comesThroughLink(
  stage: Stage,
  write: (folder: string, nth: number) => Promise<void>,
): Promise<boolean> {
  const outside = join(stage.folder, "outside");
  const before = await readdir(outside, { recursive: true });
  await stage.confined("workspace-write", EXCHANGE, {
    meanwhile: async () => {
      for (let nth = 0; nth < TRIES; nth++) await write(join(stage.folder, "work", "exchanged"), nth);
    },
  });
  return (await readdir(outside, { recursive: true })).join() !== before.join();
}

/** Applies a patch as in a thread whose policy is `never`. */
async function patch({ folder: top }: Stage, folder: string, nth: number): Promise<void> {
  const files = nodeFiles();
  const tool = patchTool({
    clock: { monotonic: () => 0 },
    workspace: nodeWorkspace,
    files,
    filesOf: () => files,
    mayWrite: async () => true,
    unwritable: async () => null,
    guarded: async () => [],
  });
  const thread = newThread();
  const cwd = join(top, "work");
  const settings = {
    ...thread.settings,
    cwd,
    roots: [cwd],
    approvalPolicy: "never" as const,
    sandbox: workspaceWrite({}),
  };
  const invocation: Invocation = {
    thread: { ...thread, settings },
    turnId: "t",
    call: { callId: "c", name: "apply_patch", namespace: null, arguments: "", kind: "custom" },
    args: `*** Begin Patch\n*** Add File: ${folder}/new-${nth}/file\n+x\n*** End Patch`,
    startedAt: 0,
    now: 0,
  };
  const step = await tool.begin(invocation);
  if (step.kind !== "dispatch") return;
  const perform = tool.perform as (one: Invocation, signal: AbortSignal) => Promise<Step>;
  await perform({ ...invocation, plan: step.plan }, new AbortController().signal);
}
