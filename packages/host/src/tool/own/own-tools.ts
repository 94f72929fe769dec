import type { ThreadState } from "../../core/state.ts";
import type { Platform, ReadableFiles } from "../../platform/platform.ts";
import { type PatchPorts, patchToolSource } from "../patch/apply-patch-tool.ts";
import { cancelSubscription } from "../rap/cancel-subscription.ts";
import { eventTool } from "../rap/subscription-event-tool.ts";
import type { ToolSource } from "../tool.ts";
import { goalTools } from "./goal-tools.ts";
import { planTools } from "./plan-tool.ts";
import { requestUserInput } from "./request-user-input.ts";
import { viewImage } from "./view-image.ts";

/** Features that switch built-in tools on and off. */
type OwnFeature = "goals" | "view_image";

/**
 * The host's built-in tools. `visibleTo`: the files that a thread's model may read. `mayAsk`: whether the model may
 * ask the user outside of Plan mode. `isOn`: whether a feature is on for a thread.
 */
export function ownTools(
  platform: Pick<Platform, "clock" | "workspace" | "files">,
  reachOf: (owner: string) => FileReach,
  maxGoalTokenBudget: number | null,
  visibleTo: VisibleTo = unrestricted(reachOf),
  mayAsk: (thread: ThreadState) => boolean = () => true,
  isOn: (feature: OwnFeature, threadId: string) => boolean = () => true,
): readonly ToolSource[] {
  const ask = requestUserInput(mayAsk);
  const withoutFiles = [ask, eventTool];
  const viewImageFor = viewImage((thread) => visibleTo(thread).files);
  const builtIn: ToolSource = {
    tools: ({ facts, settings }) =>
      reachOf(facts.owner).hasFiles && isOn("view_image", facts.id)
        ? [ask, viewImageFor(settings.model), eventTool]
        : withoutFiles,
  };
  const patches = patchToolSource(patchPorts(platform, reachOf, visibleTo));
  const patch: ToolSource = {
    tools: (thread) =>
      reachOf(thread.facts.owner).hasFiles && thread.turn?.kind !== "review" ? patches.tools(thread) : [],
  };
  return [planTools, builtIn, patch, goalTools(maxGoalTokenBudget, (threadId) => isOn("goals", threadId))];
}

/** Which files a thread's model may read and write. */
type VisibleTo = (thread: ThreadState) => {
  readonly files: ReadableFiles;
  /** Whether the model could see a file with this real path. */
  isVisible(path: string): Promise<boolean>;
  unwritable(paths: readonly string[]): Promise<readonly string[] | null>;
  guarded(paths: readonly string[]): Promise<readonly string[]>;
};

function unrestricted(reachOf: (owner: string) => FileReach): VisibleTo {
  return ({ facts }) => ({
    files: reachOf(facts.owner).files,
    isVisible: async () => true,
    unwritable: async () => null,
    guarded: async () => [],
  });
}

/** The parts of the platform that patches need, limited to the files that the thread may access. */
export function patchPorts(
  { clock, workspace, files }: Pick<Platform, "clock" | "workspace" | "files">,
  reachOf: (owner: string) => FileReach,
  visibleTo: VisibleTo,
): PatchPorts {
  /** The views of threads, cached for all files of a patch. */
  const views = new WeakMap<ThreadState, ReturnType<VisibleTo>>();
  const viewOf = (thread: ThreadState): ReturnType<VisibleTo> => {
    const view = views.get(thread) ?? visibleTo(thread);
    views.set(thread, view);
    return view;
  };
  return {
    clock,
    workspace,
    files,
    filesOf: (thread) => viewOf(thread).files,
    unwritable: (thread, paths) => viewOf(thread).unwritable(paths),
    guarded: (thread, paths) => viewOf(thread).guarded(paths),
    // A file that the model cannot see must not be overwritten.
    mayWrite: (thread, path) =>
      reachOf(thread.facts.owner)
        .checkPath("path", path)
        .then(
          () => viewOf(thread).isVisible(path),
          () => false,
        ),
  };
}

/** The files that threads of an owner may read. */
interface FileReach {
  readonly files: ReadableFiles;
  /** Whether the owner may read files at all. */
  readonly hasFiles: boolean;
  /** Throws if the owner may not access a path. */
  checkPath(name: string, path: string): Promise<void>;
}

/** The names of the host's own tools. Tools of tool servers must have other names. */
export function ownNames(sources: readonly ToolSource[]): readonly string[] {
  const tools = [cancelSubscription, ...sources.flatMap((source) => source.tools(NEW_THREAD))];
  return tools.map(({ name }) => name);
}

/** The state of a new thread, as far as tool sources use it. */
const NEW_THREAD = {
  turn: null,
  settings: { sandbox: { type: "readOnly" }, approvalPolicy: "on-request", permissionProfile: null },
  facts: { ephemeral: false, owner: "local" },
} as unknown as ThreadState;
