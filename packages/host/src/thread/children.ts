import type { Child, ChildTask } from "../core/children/records.ts";
import { threadView } from "../core/life/views.ts";
import { eventReceived } from "../core/rap/events.ts";
import type { RapEvent } from "../core/rap/records.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import type { JournalReader } from "../journal/journal.ts";
import type { Clock } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import { forkHistory } from "./fork.ts";
import type { Idle } from "./idle.ts";
import type { Registry } from "./registry.ts";
import { ANYONE } from "./stored.ts";

export interface ChildrenPorts {
  readonly registry: Registry;
  readonly idle: Idle;
  readonly clock: Clock;
  /** Takes a thread out of lists. */
  unlist(threadId: string): Promise<void>;
  /** Makes what is stored of a thread survive a power cut. */
  sync(threadId: string): Promise<void>;
}

/** Threads that threads begin: each does its task, with its parent's history and beside it, and is closed then. */
export class Children {
  readonly #ports: ChildrenPorts;

  constructor(ports: ChildrenPorts) {
    this.#ports = ports;
  }

  /** What is due for a child; what became of it, if that is news. */
  async perform(
    parent: Actor,
    state: ThreadState,
    child: Child,
  ): Promise<"childMade" | "childEnded" | undefined> {
    if (child.task === null) return (await this.#isOver(child.childId)) ? "childEnded" : undefined;
    await this.#make(parent, state, child.childId, child.task);
    // From then on the event is in the child's journal alone, and its tool server has had its 200.
    if (!state.facts.ephemeral) await this.#ports.sync(child.childId);
    return "childMade";
  }

  /** Makes sure that a child is there. One that was begun and has its task is not begun again. */
  async #make(parent: Actor, state: ThreadState, childId: string, { event }: ChildTask): Promise<void> {
    const { registry, idle, clock, unlist } = this.#ports;
    const known = await this.#read(childId, (journal) => hasReceived(journal, event));
    if (known === true) return;
    // A host died in the middle of it: nobody knows of what it left.
    if (known === false)
      await registry.withStored(childId, ANYONE, "deleted", async (journal) => {
        await unlist(childId);
        await journal.destroy();
      });
    const { startKey: _, ...facts } = state.facts;
    const history = eventHistory(parent.journal, state, eventReceived(clock.now(), event, null));
    const child = await registry.start({
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
    });
    // It goes when its turn has ended, unless someone comes for it.
    idle.forNobody(child);
    for (const { recipient } of parent.subscriptions) idle.observe(child, recipient);
    const thread = threadView(await child.peek(), child.journal.place);
    registry.announce(child, "thread/started", { thread });
    child.goOn();
  }

  async #isOver(childId: string): Promise<boolean> {
    const status = await this.#read(childId, async (_journal, state) => state.status.type);
    return status === undefined || status === "notLoaded";
  }

  /** Undefined if there is no such thread. */
  async #read<T>(
    childId: string,
    look: (journal: JournalReader, state: ThreadState) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await this.#ports.registry.read(childId, ANYONE, look);
    } catch (cause) {
      if (cause instanceof Fault && cause.code === "threadNotLoaded") return undefined;
      throw cause;
    }
  }
}

/** Of one that was closed in the meantime only the journal tells. */
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
