import type { Child, ChildTask } from "../core/children/records.ts";
import { threadView } from "../core/life/thread-view.ts";
import type { RapEvent } from "../core/rap/records.ts";
import { eventReceived } from "../core/rap/tool-server-events.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import { forkHistory } from "../history/fork-history.ts";
import type { Clock, Timers } from "../platform/platform.ts";
import type { JournalReader } from "../store/journal.ts";
import type { Actor } from "./actor.ts";
import { CrossThreadWakeups, LOOK_AGAIN_MS } from "./cross-thread-wakeups.ts";
import type { Idle } from "./idle-unload.ts";
import type { Registry } from "./registry.ts";
import { ANYONE, type StartRequest } from "./stored-threads.ts";

export interface ChildEffectPerformerPorts {
  readonly registry: Registry;
  readonly idle: Idle;
  readonly clock: Clock;
  readonly timers: Pick<Timers, "after">;
  /** Makes all stored data of a thread durable. */
  sync(threadId: string): Promise<void>;
}

/**
 * Performs the effects of child threads that handle events. Each child starts with its parent's history, handles one
 * event, and is closed.
 */
export class ChildEffectPerformer {
  readonly #ports: ChildEffectPerformerPorts;
  readonly #ends = new CrossThreadWakeups();

  constructor(ports: ChildEffectPerformerPorts) {
    this.#ports = ports;
  }

  /** Called for every commit of every thread. */
  committed({ records }: Commit, { facts }: ThreadState): void {
    if (records.some(({ type }) => type === "closed")) this.#ends.wake(facts.id);
  }

  /**
   * Creates a child, or waits for the end of an existing one. Returns the outcome as a command for the parent, if
   * there is one.
   */
  async perform(
    parent: Actor,
    state: ThreadState,
    child: Child,
    signal: AbortSignal,
  ): Promise<"childMade" | "childEnded" | undefined> {
    if (child.task === null) return (await this.#end(child.childId, signal)) ? "childEnded" : undefined;
    await this.#create(parent, state, child.childId, child.task);
    // After `childMade`, the parent's state no longer contains the event, and the tool server does not send the event
    // again. Only the child's journal contains it, so that journal is synced first.
    if (!state.facts.ephemeral) await this.#ports.sync(child.childId);
    return "childMade";
  }

  /** Waits for the end of a child. Returns false if the effect was aborted. */
  async #end(childId: string, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      // Registered before the check, so that an end in between is not missed.
      const wakeup = this.#ends.wait(childId, signal);
      const where = await this.#whereIs(childId);
      if (where === "nowhere") return true;
      const lookAgain =
        where === "elsewhere"
          ? this.#ports.timers.after(LOOK_AGAIN_MS, () => this.#ends.wake(childId))
          : undefined;
      await wakeup;
      lookAgain?.();
      if (where === "here") return !signal.aborted;
    }
    return false;
  }

  /** Creates a child with its task, unless its journal already contains the task. */
  async #create(parent: Actor, state: ThreadState, childId: string, { event }: ChildTask): Promise<void> {
    const { registry, idle, clock } = this.#ports;
    const known = await readThread(registry, childId, (journal) => hasReceived(journal, event));
    if (known === true) return;
    // A host died while it created the child. The incomplete thread is removed.
    if (known === false)
      await registry.withStored(childId, ANYONE, "deleted", async (journal) => {
        await journal.destroy();
      });
    const { startKey: _, ...facts } = state.facts;
    const history = eventHistory(parent.journal, state, eventReceived(clock.now(), event, null));
    const request: StartRequest = {
      facts: {
        ...facts,
        id: childId,
        forkedFromId: null,
        parentThreadId: state.facts.id,
        ancestors: [...(state.facts.ancestors ?? []), state.facts.id],
      },
      settings: state.settings,
      load: state.load,
      docs: state.docs,
      history,
      origin: parent.journal,
    };
    await registry.start(request, {
      async join(child, made) {
        // The child is unloaded after its turn, unless a client has resumed it.
        idle.forNobody(child);
        for (const { recipient } of parent.subscriptions) idle.observe(child, recipient);
        const thread = threadView(made, child.journal.place);
        registry.announce(child, "thread/started", { thread });
      },
    });
  }

  /** Where a child is loaded: in this host, in another one, or nowhere, because it has ended. */
  async #whereIs(childId: string): Promise<"here" | "elsewhere" | "nowhere"> {
    const where = await readThread(this.#ports.registry, childId, async (_journal, { status }, heldBy) => {
      if (heldBy !== undefined) return "elsewhere";
      return status.type === "notLoaded" ? "nowhere" : "here";
    });
    return where ?? "nowhere";
  }
}

/** Calls `look` with a thread's journal and state, loaded or not. Undefined if there is no such thread. */
export async function readThread<T>(
  registry: Registry,
  threadId: string,
  look: (journal: JournalReader, state: ThreadState, heldBy?: string) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await registry.read(threadId, ANYONE, look);
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "threadNotLoaded") return undefined;
    throw cause;
  }
}

/** Whether the child's journal contains the event. The state of a closed child no longer shows it. */
async function hasReceived(journal: JournalReader, { id }: RapEvent): Promise<boolean> {
  for await (const { commit } of journal.backwards()) {
    if (commit.records.some((record) => record.type === "eventReceived" && record.event.id === id))
      return true;
  }
  return false;
}

async function* eventHistory(
  journal: JournalReader,
  state: ThreadState,
  event: ThreadRecord,
): AsyncIterable<readonly ThreadRecord[]> {
  yield* forkHistory(journal, state, {});
  yield [event];
}
