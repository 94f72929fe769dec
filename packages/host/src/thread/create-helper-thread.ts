import { helperSource } from "../core/children/helper-identity.ts";
import type { Helper } from "../core/children/helper-thread-state.ts";
import type { ThreadSettings } from "../core/life/records.ts";
import { threadView } from "../core/life/thread-view.ts";
import type { ThreadState } from "../core/state.ts";
import { helperHistory } from "../history/helper-thread-history.ts";
import type { JournalReader } from "../store/journal.ts";
import type { Actor } from "./actor.ts";
import { readThread } from "./child-effect-performer.ts";
import type { Idle } from "./idle-unload.ts";
import type { Registry } from "./registry.ts";
import { ANYONE } from "./stored-threads.ts";

export interface HelperCreationPorts {
  readonly registry: Registry;
  readonly idle: Idle;
  /** Makes all stored data of a thread durable. */
  sync(threadId: string): Promise<void>;
}

/** Creates a helper's thread, unless it exists. Returns the number of the last commit of its creation. */
export async function createHelper(
  { registry, idle, sync }: HelperCreationPorts,
  parent: Actor,
  state: ThreadState,
  helper: Helper,
): Promise<number> {
  const { childId } = helper;
  const start = helper.start!;
  const made = await readThread(registry, childId, (journal) => createdUpTo(journal, start.fork));
  if (made === null)
    // A host died while it created the thread. The incomplete thread is removed.
    await registry.withStored(childId, ANYONE, "deleted", async (journal) => {
      await journal.destroy();
    });
  else if (made !== undefined) {
    if (!state.facts.ephemeral) await sync(childId);
    return made;
  }
  const { startKey: _, ...facts } = state.facts;
  const child = await registry.start({
    facts: {
      ...facts,
      id: childId,
      forkedFromId: start.fork ? facts.id : null,
      parentThreadId: facts.id,
      ancestors: [...(facts.ancestors ?? []), facts.id],
      source: helperSource(facts, helper),
      threadSource: "subagent",
    },
    settings: { ...withoutWindow(state.settings, start.settings.model), ...start.settings, mode: null },
    load: {
      ...state.load,
      ...(start.developerInstructions !== null && { developerInstructions: start.developerInstructions }),
    },
    docs: state.docs,
    gitInfo: state.gitInfo,
    ...(start.fork && { history: helperHistory(parent.journal, state), origin: parent.journal }),
  });
  idle.forNobody(child);
  idle.observeFromAbove(child);
  const { head } = child;
  child.tell("thread/started", { thread: threadView(await child.peek(), child.journal.place) });
  registry.announce(child, "thread/status/changed", { threadId: child.id, status: child.status });
  if (!state.facts.ephemeral) await sync(childId);
  return head;
}

/** Removes the settings of the context window if the helper uses another model: they belong to the parent's model. */
function withoutWindow(settings: ThreadSettings, model: string | undefined): ThreadSettings {
  if (model === undefined || model === settings.model) return settings;
  return { ...settings, contextWindow: null, autoCompactTokens: null };
}

/** The number of the last commit that a helper's thread was created with; null if its creation is incomplete. */
async function createdUpTo(journal: JournalReader, fork: boolean): Promise<number | null> {
  // A checkpoint, written after the copied history, completes the creation.
  for await (const { commit } of journal.forwards()) {
    if (!fork || commit.records.some(({ type }) => type === "checkpoint")) return commit.seq;
  }
  return null;
}
