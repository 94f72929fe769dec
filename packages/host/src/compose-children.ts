import type { UserInput } from "@bobbin/protocol";
import type { Config } from "./config/config.ts";
import { RoleFiles } from "./config/role-files.ts";
import type { ThreadState } from "./core/state.ts";
import type { Log } from "./observe/log.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform, ReadableFiles } from "./platform/platform.ts";
import type { Journal } from "./store/journal.ts";
import { ChildEffectPerformer } from "./thread/child-effect-performer.ts";
import { HelperEffectPerformer, type HelperPorts } from "./thread/helper-effect-performer.ts";
import { HelperThreadAccess } from "./thread/helper-thread-access.ts";
import type { Idle } from "./thread/idle-unload.ts";
import type { Registry } from "./thread/registry.ts";
import { helperToolSource } from "./tool/children/helper-source.ts";
import type { HelperThreads } from "./tool/children/helper-tool.ts";
import { keepMedia, namesMedia } from "./tool/input-media-blobs.ts";
import type { ToolSource } from "./tool/tool.ts";

interface ChildParts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly registry: Registry;
  readonly idle: Idle;
  readonly journal: Journal;
  /** The files that a thread's model may see. */
  filesOf(thread: ThreadState): ReadableFiles;
}

/** Creates the parts that run child threads: helpers, and threads that handle an event of a tool server. */
export function composeChildren(parts: ChildParts): {
  readonly children: ChildEffectPerformer;
  readonly helpers: HelperEffectPerformer;
  readonly helperThreads: HelperThreadAccess;
} {
  const { platform, registry, idle, journal, supervisor } = parts;
  const ports = {
    registry,
    idle,
    clock: platform.clock,
    sync: (threadId: string) => journal.flush(threadId),
  };
  const prepare: HelperPorts["prepare"] = async ({ journal: helperJournal }, thread, input) => {
    if (!namesMedia(input)) return { input, blobs: undefined };
    const keep = (name: string, bytes: Uint8Array): Promise<void> => helperJournal.keep(name, bytes);
    const blobs = await keepMedia(input, thread.settings.cwd, parts.filesOf(thread), keep).catch(
      () => undefined,
    );
    // A model named the file, so the helper gets the file only if the helper's own thread may read it.
    const seen = input.map((part): UserInput => {
      const isKept = !namesMedia([part]) || ("path" in part && blobs?.[part.path] !== undefined);
      return isKept ? part : { type: "text", text: `(a file that cannot be shown)`, text_elements: [] };
    });
    return { input: seen, blobs };
  };
  return {
    children: new ChildEffectPerformer({ ...ports, timers: platform.timers }),
    helpers: new HelperEffectPerformer({ ...ports, platform, supervisor, prepare }),
    helperThreads: new HelperThreadAccess(ports),
  };
}

/** Creates the tools with which models start and control helpers. `threads` is a function because it is created later. */
export function composeHelperTools(parts: {
  readonly home: string;
  readonly platform: Platform;
  readonly log: Log;
  config(): Config;
  /** Whether a thread may have helpers. */
  isOn(threadId: string): boolean;
  threads(): HelperThreads;
}): ToolSource {
  const { home, platform, log, config, threads } = parts;
  const settings = () => config().agents;
  return helperToolSource({
    ids: platform.ids,
    roles: new RoleFiles({ home, files: platform.files, log, settings }),
    threads: {
      interrupt: (childId) => threads().interrupt(childId),
      close: (childId) => threads().close(childId),
      open: (parent, childId) => threads().open(parent, childId),
      openElsewhere: (facts) => threads().openElsewhere(facts),
    },
    settings,
    isOn: parts.isOn,
  });
}
