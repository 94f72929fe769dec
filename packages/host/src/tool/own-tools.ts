import type { ThreadState } from "../core/state.ts";
import type { Platform, ReadableFiles } from "../platform/platform.ts";
import { goalTools } from "./goal.ts";
import { type PatchPorts, patchTools } from "./patch/apply-patch.ts";
import { planTools } from "./plan.ts";
import { cancelSubscription } from "./rap/cancel-subscription.ts";
import { eventTool } from "./rap/event-tool.ts";
import type { ToolSource } from "./tool.ts";
import { requestUserInput } from "./user-input.ts";
import { viewImage } from "./view-image.ts";

/** Tools that threads have of the host itself. `visibleTo`: the files that a thread's model may see. */
export function ownTools(
  { workspace, files }: Pick<Platform, "workspace" | "files">,
  reachOf: (owner: string) => FileReach,
  maxGoalTokenBudget: number | null,
  visibleTo: VisibleTo = everything(reachOf),
): readonly ToolSource[] {
  const withoutFiles = [requestUserInput, eventTool];
  const all = [requestUserInput, viewImage((thread) => visibleTo(thread).files), eventTool];
  const builtIn: ToolSource = {
    tools: ({ facts }) => (reachOf(facts.owner).hasFiles ? all : withoutFiles),
  };
  const patches = patchTools(patchPorts({ workspace, files }, reachOf, visibleTo));
  const patch: ToolSource = {
    tools: (thread) =>
      reachOf(thread.facts.owner).hasFiles && thread.turn?.kind !== "review" ? patches.tools(thread) : [],
  };
  return [planTools, builtIn, patch, goalTools(maxGoalTokenBudget)];
}

/** What the model of a thread may see. */
type VisibleTo = (thread: ThreadState) => {
  readonly files: ReadableFiles;
  /** Whether a file of this real path could be seen. */
  isVisible(path: string): Promise<boolean>;
  unwritable(paths: readonly string[]): Promise<readonly string[] | null>;
};

function everything(reachOf: (owner: string) => FileReach): VisibleTo {
  return ({ facts }) => ({
    files: reachOf(facts.owner).files,
    isVisible: async () => true,
    unwritable: async () => null,
  });
}

/** What patches need of the machine. */
export function patchPorts(
  { workspace, files }: Pick<Platform, "workspace" | "files">,
  reachOf: (owner: string) => FileReach,
  visibleTo: VisibleTo,
): PatchPorts {
  /** Looked at once for all files of a patch. */
  const views = new WeakMap<ThreadState, ReturnType<VisibleTo>>();
  const viewOf = (thread: ThreadState): ReturnType<VisibleTo> => {
    const view = views.get(thread) ?? visibleTo(thread);
    views.set(thread, view);
    return view;
  };
  return {
    workspace,
    files,
    filesOf: (thread) => viewOf(thread).files,
    unwritable: (thread, paths) => viewOf(thread).unwritable(paths),
    // What cannot be seen must not be replaced unseen.
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
  /** Whether there are any. */
  readonly hasFiles: boolean;
  /** Throws if a path is out of reach. */
  checkPath(name: string, path: string): Promise<void>;
}

/** Their names, none of which a tool server's tool can have. */
export function ownNames(sources: readonly ToolSource[]): readonly string[] {
  const tools = [cancelSubscription, ...sources.flatMap((source) => source.tools(NEW_THREAD))];
  return tools.map(({ name }) => name);
}

/** What sources look at, as it is in a thread that has done nothing yet. */
const NEW_THREAD = {
  turn: null,
  settings: { sandbox: { type: "readOnly" }, approvalPolicy: "on-request", permissionProfile: null },
  facts: { ephemeral: false, owner: "local" },
} as unknown as ThreadState;
