import type { NotificationName, NotificationParams, ThreadStatus } from "@bobbin/protocol";
import type { Encoded } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import type { UnloadReason } from "../core/life/records.ts";
import type { JournalLocation } from "../core/life/thread-view.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { outlives } from "../core/turn/dead-host-recovery.ts";
import { fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Slices } from "../platform/event-loop-slices.ts";
import type { Platform } from "../platform/platform.ts";
import type { JournalReader, ThreadJournal } from "../store/journal.ts";
import { type Head, readHead } from "../store/thread-head.ts";
import type { KnownThread } from "../store/thread-index.ts";
import type { Actor, ActorPorts, Driver } from "./actor.ts";
import { HibernationOrder } from "./hibernation-order.ts";
import { durabilityOf } from "./journal-sync-policy.ts";
import { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";
import { LoadedChildren } from "./loaded-children.ts";
import type { CommitCallback } from "./mailbox.ts";
import { notificationFrame } from "./notification-frame.ts";
import { Observers, type ThreadObserver } from "./observers.ts";
import { Recovery } from "./recovery.ts";
import type { Secrets } from "./request-secrets.ts";
import { type Access, type StartRequest, StoredThreads, type StoredThreadsPorts } from "./stored-threads.ts";
import { parseThreadId } from "./thread-id.ts";
import { type Follower, type LoadRequest, ThreadLoader } from "./thread-loader.ts";
import { type Release, type ShutdownCounts, ThreadUnloader } from "./thread-unloader.ts";

export interface RegistryPorts extends Omit<StoredThreadsPorts, "observers"> {
  readonly platform: Platform;
  /** Divides the event loop among threads with many commands. */
  readonly commits: Slices<Actor>;
  readonly supervisor: Supervisor;
  readonly maxResident: number;
  readonly secrets: Secrets;
  /** The observers, in the order in which they are called. */
  readonly observers: readonly ThreadObserver[];
  readonly driver: Driver;
  /** The last exclusive operation on a thread (`Actor.during`) has ended. */
  visited(actor: Actor): void;
  /**
   * Called before a thread is unloaded. Resolves when everything that the thread started has ended; undefined if
   * nothing runs.
   */
  leaving(actor: Actor, ending: boolean): Promise<void> | undefined;
  /** The state of each thread in the index. */
  listed(): Promise<ReadonlyMap<string, KnownThread>>;
  /** Called after a thread of a dead host was loaded without a subscriber. */
  adopted(actor: Actor): void;
}

const NOT_LOADED: ThreadStatus = { type: "notLoaded" };

/** Sends a notification about a thread. It is not written to the journal, so a replay does not contain it. */
export type Announce = <N extends NotificationName>(method: N, params: NotificationParams<N>) => void;

/** Work on the journal of a thread that is not loaded. */
type StoredWork = (journal: ThreadJournal, head: Head, announce: Announce) => Promise<void>;

/** Called with the result of an edit. */
type EditCallback = (state: ThreadState, place: JournalLocation, records: readonly ThreadRecord[]) => void;

/** All loaded threads. Starts, loads, finds, edits, unloads and hibernates threads. */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #slots = new LoadedAndBusyThreads();
  readonly #residents: HibernationOrder;
  readonly #stored: StoredThreads;
  readonly #family = new LoadedChildren();
  readonly #loader: ThreadLoader;
  readonly #unloader: ThreadUnloader;
  readonly #recovery: Recovery;
  #closing = false;

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
    this.#residents = new HibernationOrder(ports.maxResident);
    const observers = new Observers([this.#ownObserver(), ...ports.observers], ports.supervisor);
    this.#stored = new StoredThreads({ ...ports, observers }, ports.platform);
    const actorPorts: ActorPorts = {
      platform: ports.platform,
      commits: ports.commits,
      broadcast: (actor, method, frame) => ports.broadcast(actor, method, frame),
      durability: (commit, wantsSync) => durabilityOf(ports.journalSync, commit, wantsSync),
      observers,
      recovering: (threadId) => ports.recovering(threadId),
      driver: ports.driver,
      // Waking up is no activity, so the unload delay continues.
      woken: (actor) => this.#resident(actor),
      visited: (actor) => ports.visited(actor),
      secretOf: (requestId) => ports.secrets.of(requestId),
      supervise: (what, work) => ports.supervisor.take(what, work),
    };
    this.#loader = new ThreadLoader({
      ...ports,
      clock: ports.platform.clock,
      observers,
      actorPorts,
      slots: this.#slots,
      stored: this.#stored,
      family: this.#family,
      ending: () => this.#closing,
    });
    this.#unloader = new ThreadUnloader({
      ...ports,
      observers,
      slots: this.#slots,
      stored: this.#stored,
      family: this.#family,
      residents: this.#residents,
      announce: (actor, method, params) => this.announce(actor, method, params),
      ending: () => this.#closing,
    });
    this.#recovery = new Recovery({
      ...ports,
      slots: this.#slots,
      stored: this.#stored,
      adopt: (held) => this.#loader.adoptForNobody(held),
      stopped: () => this.#closing,
    });
    ports.claims.onLost((threadId) => this.#lost(threadId));
  }

  /** Updates the hibernation order, and logs why threads fail. */
  #ownObserver(): ThreadObserver {
    return {
      loaded: (actor) => this.#resident(actor),
      committed: (_commit, _state, { actor }) => {
        if (actor !== undefined) this.#resident(actor);
      },
      failed: (actor, cause) => {
        this.#ports.supervisor.report(`journal of thread ${actor.id}`, cause);
      },
    };
  }

  *loaded(): Iterable<Actor> {
    for (const slot of this.#slots.values()) if (slot.kind === "loaded") yield slot.actor;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** The ID of this host for other hosts with the same store. */
  get hostId(): string {
    return this.#ports.claims.hostId;
  }

  /** The number of threads in memory. */
  get residents(): number {
    return this.#residents.size;
  }

  /** Returns a thread if it is loaded; undefined otherwise, also while it is being loaded or unloaded. */
  get(threadId: string): Actor | undefined {
    const slot = this.#slots.get(threadId);
    return slot?.kind === "loaded" ? slot.actor : undefined;
  }

  /** The status of a loaded thread. */
  statusOf(threadId: string): ThreadStatus | undefined {
    return this.get(threadId)?.status;
  }

  /**
   * Returns a loaded thread. Waits while the thread is being loaded or unloaded. Throws if the thread is not loaded.
   */
  async find(threadId: string, access: Access): Promise<Actor> {
    const actor = await this.findLoaded(threadId, access);
    if (actor !== undefined) return actor;
    const holder = await this.holderOf(threadId, access);
    throw holder === undefined
      ? fault("threadNotFound", threadId)
      : fault("heldElsewhere", parseThreadId(threadId), holder);
  }

  /** The ID of the other host that has the thread loaded, if any. Only for callers that may see the thread. */
  holderOf(threadId: string, access: Access): Promise<string | undefined> {
    return this.#stored.holderOf(parseThreadId(threadId), access);
  }

  /** The other hosts that have these threads loaded, by thread ID. */
  holders(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#ports.claims.holders(threadIds.filter((id) => this.#slots.get(id) === undefined));
  }

  /** The number of threads that each other living host has loaded, by host ID. */
  async claimsOfOthers(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const holders = await this.holders(await this.#ports.claims.held());
    for (const hostId of holders.values()) counts.set(hostId, (counts.get(hostId) ?? 0) + 1);
    return counts;
  }

  /** The thread that a journal's path may belong to, and the path in the store's notation. */
  resolvePath(path: string): { readonly path: string; readonly threadId: string | undefined } {
    return this.#ports.journal.resolvePath(path);
  }

  /** The loaded child threads of a loaded thread. */
  childrenOf(actor: Actor): readonly Actor[] {
    return this.#family.childrenOf(actor);
  }

  async findLoaded(threadId: string, access: Access): Promise<Actor | undefined> {
    const actor = await this.#settled(threadId);
    return actor !== undefined && access(actor.owner) ? actor : undefined;
  }

  #settled(threadId: string): Promise<Actor | undefined> {
    return this.#slots.settled<Actor | undefined>(parseThreadId(threadId), itself, nobody);
  }

  /** Creates a thread, with the history of the request. */
  start(request: StartRequest, follower?: Follower): Promise<Actor> {
    return this.#loader.start(request, follower);
  }

  /** Loads a thread, if it is not loaded, and lets the follower join it. */
  async load(threadId: string, access: Access, request: LoadRequest, follower: Follower): Promise<Actor> {
    return this.#loader.load(parseThreadId(threadId), access, request, follower);
  }

  /**
   * Runs a command on a thread without loading it. `synced`: the commit of a loaded thread is fsynced before the reply;
   * a commit of a thread that is not loaded is fsynced in any case. The sync policy `never` overrides both.
   */
  async edit(
    threadId: string,
    access: Access,
    command: Command,
    committed: EditCallback,
    synced = false,
  ): Promise<void> {
    const id = parseThreadId(threadId);
    return this.#slots.settled(
      id,
      (actor) => {
        if (!access(actor.owner)) throw fault("noRollout", id);
        const onCommitted: CommitCallback = (state, records) =>
          committed(state, actor.journal.place, records);
        return actor.submit(command, onCommitted, synced);
      },
      async () => {
        if (this.#closing) throw fault("shuttingDown");
        const done = await this.#slots.occupy(id, () => this.#editStored(id, access, command, committed));
        if (!done) await this.edit(id, access, command, committed, synced);
      },
    );
  }

  /**
   * Edits a thread that is not loaded. Returns false if the thread was adopted instead of edited, because its host
   * had died.
   */
  async #editStored(id: string, access: Access, command: Command, committed: EditCallback): Promise<boolean> {
    const opened = await this.#stored.open(id, access);
    const { journal } = opened;
    if (outlives(opened.head.state)) {
      await this.#loader.adoptForNobody(opened);
      return false;
    }
    try {
      const held = await this.#stored.end(opened);
      await this.#stored.commit(held, command, (state, records) => {
        committed({ ...state, status: NOT_LOADED }, journal.place, records);
      });
      return true;
    } finally {
      await this.#stored.closeAndRecover(id, journal);
    }
  }

  /** Reads a thread, loaded or not. `heldBy`: the other host that has it loaded, if there is one. */
  async read<T>(
    threadId: string,
    access: Access,
    look: (journal: JournalReader, state: ThreadState, heldBy?: string) => Promise<T>,
  ): Promise<T> {
    const actor = await this.#settled(threadId);
    if (actor !== undefined && !actor.broken) {
      if (!access(actor.owner)) throw fault("threadNotLoaded", actor.id);
      return look(actor.journal, await actor.peek());
    }
    const id = parseThreadId(threadId);
    return this.#stored.read(id, access, async (journal, { state }) => {
      const heldBy = actor === undefined ? await this.#ports.claims.holder(id) : undefined;
      return look(journal, { ...state, status: actor?.status ?? NOT_LOADED }, heldBy);
    });
  }

  /**
   * Unloads a thread: commits its close, calls `committed`, notifies clients, and passes the journal to `release`.
   * Requests that arrive in between wait, and then find that the thread is not loaded.
   */
  unload(actor: Actor, reason: UnloadReason, committed?: () => void, release?: Release): Promise<void> {
    return this.#unloader.unload(actor, reason, committed, release);
  }

  /** Runs `work` with exclusive access to a thread's journal. Unloads the thread first. */
  async withStored(threadId: string, access: Access, reason: UnloadReason, work: StoredWork): Promise<void> {
    const id = parseThreadId(threadId);
    return this.#slots.settled(
      id,
      (actor) => {
        if (!access(actor.owner)) throw fault("noRollout", id);
        if (actor.ephemeral) throw fault("noRollout", threadId);
        return this.unload(actor, reason, undefined, (journal) => this.#released(actor, journal, work));
      },
      () => this.#slots.occupy(id, () => this.#workOnStored(id, access, work)),
    );
  }

  /** Runs `work` on the journal of a thread that was just unloaded. */
  async #released(actor: Actor, journal: ThreadJournal, work: StoredWork): Promise<void> {
    const done = closing(journal, async () => {
      const head = await readHead(journal);
      if (head === undefined) throw fault("noRollout", actor.id);
      // The last append failed. Its commit may be in the journal and missing in the index.
      if (journal.needsRecovery) await this.#ports.recovering(actor.id);
      await work(journal, head, (method, params) => this.announce(actor, method, params));
    });
    await done.catch((cause: unknown) => {
      // The work failed, so the thread is neither archived nor deleted. It is unloaded all the same.
      this.announce(actor, "thread/closed", { threadId: actor.id });
      throw cause;
    });
  }

  async #workOnStored(id: string, access: Access, work: StoredWork): Promise<void> {
    const { journal, head } = await this.#stored.openEnded(id, access);
    const done = closing(journal, () =>
      work(journal, head, (method, params) => {
        this.#ports.broadcast(head.state.facts, method, notificationFrame(method, params, this.#now()));
      }),
    );
    await done.finally(() => this.#stored.tryRecovery(id, journal));
  }

  /**
   * Unloads all threads at shutdown. Waits for threads that are being created or loaded, and accepts no new ones.
   * Threads that wait for an answer are parked for the next host.
   */
  async unloadAll(reason: UnloadReason): Promise<ShutdownCounts> {
    this.#closing = true;
    for (const slot of [...this.#slots.values()]) if (slot.kind === "busy") await slot.done;
    return this.#unloader.all([...this.loaded()], reason);
  }

  /** Recovers the threads of hosts that have died, once `begun` resolves to true. */
  recover(begun?: Promise<boolean>): Promise<void> {
    return this.#recovery.run(begun);
  }

  /** Resolves when the index contains what dead hosts wrote last; undefined if there is nothing to wait for. */
  get indexed(): Promise<void> | undefined {
    return this.#recovery.indexed;
  }

  /** Sends a notification about a thread. It is not written to the journal, so a replay does not contain it. */
  announce<N extends NotificationName>(
    actor: Actor,
    method: N,
    params: NotificationParams<N> | Encoded<NotificationParams<N>>,
  ): void {
    actor.announce(method, notificationFrame(method, params, this.#now()));
  }

  /** Parks a loaded thread that another host has taken over. */
  #lost(threadId: string): void {
    const actor = this.get(threadId);
    if (actor === undefined) return;
    this.#ports.supervisor.take(`leaving thread ${threadId} to another host`, this.#unloader.moved(actor));
  }

  #resident(actor: Actor): void {
    if (this.#slots.has(actor)) this.#residents.touch(actor);
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

const itself = (actor: Actor): Actor => actor;
const nobody = (): undefined => undefined;

/** Closes the journal after the work, even if the work fails. */
async function closing(journal: ThreadJournal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await journal.close();
  }
}
