import type { LoadSettings, NotificationName, NotificationParams, ThreadStatus } from "@bobbin/protocol";
import type { Encoded } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import type { ProjectDoc, ThreadSettings, UnloadReason } from "../core/life/records.ts";
import type { Place } from "../core/life/views.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { isLive, outlives } from "../core/turn/restart.ts";
import { fault } from "../errors.ts";
import type { KnownThread } from "../journal/index/thread-index.ts";
import type { JournalReader, ThreadJournal } from "../journal/journal.ts";
import { type Head, recall } from "../journal/recall.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Slices } from "../platform/slices.ts";
import { Actor, type ActorPorts } from "./actor.ts";
import { Family } from "./family.ts";
import type { Committed } from "./mailbox.ts";
import { notificationFrame } from "./notification-frame.ts";
import { Recovery } from "./recovery.ts";
import { Residents } from "./residents.ts";
import type { Secrets } from "./secrets.ts";
import { Slots } from "./slots.ts";
import {
  type Access,
  type Held,
  type StartRequest,
  Stored,
  type StoredPorts,
  type ThreadName,
} from "./stored.ts";
import type { Recipient } from "./subscription.ts";
import { mustSync } from "./sync-policy.ts";
import { parseThreadId } from "./thread-id.ts";
import { type Release, type ShutdownCounts, Unloads } from "./unloads.ts";

export interface RegistryPorts extends StoredPorts {
  readonly platform: Platform;
  /** Keeps threads with many commands from holding up others. */
  readonly commits: Slices<Actor>;
  readonly supervisor: Supervisor;
  readonly maxResident: number;
  readonly secrets: Secrets;
  /** Performs a thread's effects; called after each commit, and when there may be something to do. */
  reconcile(actor: Actor, state: ThreadState, commit?: Commit): void;
  /** Something has changed that may let a thread be unloaded. */
  changed(actor: Actor): void;
  unloaded(actor: Actor): void;
  /** A thread is loaded, and has done nothing yet. */
  loaded(state: ThreadState): void;
  /** How far lists know each thread. */
  listed(): Promise<ReadonlyMap<string, KnownThread>>;
  /** A thread of a host that is gone is loaded again, and nobody follows it. */
  adopted(actor: Actor): void;
}

const NOT_LOADED: ThreadStatus = { type: "notLoaded" };

/** Tells something about a thread that no record holds. */
export type Announce = <N extends NotificationName>(method: N, params: NotificationParams<N>) => void;

/** What a load changes, for the thread and for good. */
export interface LoadRequest {
  changes(now: ThreadSettings, owner: string): Promise<Partial<ThreadSettings>>;
  readonly load: LoadSettings;
  docs(cwd: string, owner: string): Promise<readonly ProjectDoc[]>;
  /** Told by a replay that the thread is loaded, so not by us. */
  readonly replayed?: Recipient | undefined;
}

/** All loaded threads: start, load, unload, and hibernate in between. */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #slots = new Slots();
  readonly #residents: Residents;
  readonly #stored: Stored;
  readonly #family = new Family();
  readonly #unloads: Unloads;
  readonly #recovery: Recovery;
  readonly #actorPorts: ActorPorts;
  /** New threads on their way in; nobody knows their ids yet. */
  readonly #starting = new Map<string, Promise<unknown>>();
  #closing = false;

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
    this.#residents = new Residents(ports.maxResident);
    this.#stored = new Stored(ports, ports.platform.clock);
    this.#unloads = new Unloads({
      ...ports,
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
      adopt: (held) => this.#adoptForNobody(held),
      stopped: () => this.#closing,
      starting: (id) => this.#starting.has(id),
    });
    this.#actorPorts = {
      platform: ports.platform,
      commits: ports.commits,
      broadcast: (actor, method, frame) => ports.broadcast(actor, method, frame),
      mustSync: (commit, asked) => mustSync(ports.journalSync, commit, asked),
      reconcile: (actor, state, commit) => ports.reconcile(actor, state, commit),
      committed: (actor, commit, state) => {
        if (!actor.ephemeral) ports.committed(commit, state, actor.journal);
        this.#touched(actor);
      },
      // To wake is not to change: a delay that runs goes on as if the thread had never slept.
      woken: (actor) => this.#resident(actor),
      visited: (actor) => ports.changed(actor),
      failed: (actor, cause) => {
        ports.supervisor.report(`journal of thread ${actor.id}`, cause);
        this.announce(actor, "thread/status/changed", {
          threadId: actor.id,
          status: { type: "systemError" },
        });
        ports.changed(actor);
      },
      secretOf: (requestId) => ports.secrets.of(requestId),
      supervise: (what, work) => ports.supervisor.take(what, work),
    };
  }

  *loaded(): Iterable<Actor> {
    for (const slot of this.#slots.values()) if (slot.kind === "loaded") yield slot.actor;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** How other hosts on the same home know this one. */
  get hostId(): string {
    return this.#ports.journal.hostId;
  }

  /** Threads that are in memory. */
  get residents(): number {
    return this.#residents.size;
  }

  /** A thread that is loaded, and on its way neither in nor out. */
  get(threadId: string): Actor | undefined {
    const slot = this.#slots.get(threadId);
    return slot?.kind === "loaded" ? slot.actor : undefined;
  }

  /** The status of a thread that is loaded. */
  statusOf(threadId: string): ThreadStatus | undefined {
    return this.get(threadId)?.status;
  }

  /** A loaded thread. One on its way in or out is waited for. */
  async find(threadId: string, access: Access): Promise<Actor> {
    const actor = await this.findLoaded(threadId, access);
    if (actor !== undefined) return actor;
    const holder = await this.holderOf(threadId, access);
    throw holder === undefined
      ? fault("threadNotFound", threadId)
      : fault("heldElsewhere", parseThreadId(threadId), holder);
  }

  /** The other host that has a thread loaded, if one does and the thread may be seen. */
  holderOf(threadId: string, access: Access): Promise<string | undefined> {
    return this.#stored.holderOf(parseThreadId(threadId), access);
  }

  /** The other hosts that have one of these threads loaded, by thread. */
  holders(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#ports.journal.holders(threadIds.filter((id) => this.#slots.get(id) === undefined));
  }

  async findLoaded(threadId: string, access: Access): Promise<Actor | undefined> {
    const actor = await this.#settled(threadId);
    return actor !== undefined && access(actor.owner) ? actor : undefined;
  }

  async #settled(threadId: string): Promise<Actor | undefined> {
    const id = parseThreadId(threadId);
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot === undefined) return undefined;
      if (slot.kind === "loaded") return slot.actor;
      await slot.done;
    }
  }

  /** A new thread; what it starts with behind `created` is written a commit at a time. */
  async start(request: StartRequest): Promise<Actor> {
    if (this.#closing) throw fault("shuttingDown");
    const { id } = request.facts;
    const slot = this.#slots.get(id);
    // Only a child has an id before it is started: someone may look after what is left of it.
    const free = slot?.kind === "busy" ? slot.done : undefined;
    const started = (async () => {
      if (free !== undefined) await free;
      return this.#enter(await this.#stored.create(request));
    })();
    const done = started.catch(() => {}).finally(() => this.#starting.delete(id));
    this.#starting.set(id, done);
    return started;
  }

  /** Makes sure that a thread is loaded. `cold`: it was not. */
  async load(
    threadId: string,
    access: Access,
    request: LoadRequest,
  ): Promise<{ actor: Actor; cold: boolean }> {
    const id = parseThreadId(threadId);
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot?.kind === "loaded") {
        if (!access(slot.actor.owner)) throw fault("noRollout", id);
        return { actor: slot.actor, cold: false };
      }
      if (slot === undefined) {
        if (this.#closing) throw fault("shuttingDown");
        return { actor: await this.#slots.occupy(id, () => this.#load(id, access, request)), cold: true };
      }
      await slot.done;
    }
  }

  /**
   * Runs a command on a thread whether or not it is loaded; one that is not stays so. `synced`: it is told only when it
   * survives a power cut, which is so in any case for a thread that is not loaded.
   */
  async edit(
    threadId: string,
    access: Access,
    command: Command,
    committed: (state: ThreadState, place: Place, records: readonly ThreadRecord[]) => void,
    synced = false,
  ): Promise<void> {
    const id = parseThreadId(threadId);
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot?.kind === "loaded") {
        const { actor } = slot;
        if (!access(actor.owner)) throw fault("noRollout", id);
        const told: Committed = (state, records) => committed(state, actor.journal.place, records);
        return actor.submit(command, told, synced);
      }
      if (slot !== undefined) {
        await slot.done;
        continue;
      }
      if (this.#closing) throw fault("shuttingDown");
      const done = await this.#slots.occupy(id, async () => {
        const opened = await this.#stored.open(id, access);
        const { journal } = opened;
        if (outlives(opened.head.state)) {
          await this.#adoptForNobody(opened);
          return false;
        }
        try {
          const held = await this.#stored.end(opened);
          await this.#stored.commit(held, command, (state, records) => {
            committed({ ...state, status: NOT_LOADED }, journal.place, records);
          });
          return true;
        } finally {
          await this.#stored.giveBack(id, journal);
        }
      });
      if (done) return;
    }
  }

  /** Looks at a thread, loaded or not, without touching it. `heldBy`: another host has it loaded. */
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
      const heldBy = actor === undefined ? await this.#ports.journal.holder(id) : undefined;
      return look(journal, { ...state, status: actor?.status ?? NOT_LOADED }, heldBy);
    });
  }

  /**
   * Ends a load: the last commit, everyone told, the thread given back by `release`. `committed` runs before
   * anyone is told. Whoever comes meanwhile waits, and finds it not loaded.
   */
  unload(actor: Actor, reason: UnloadReason, committed?: () => void, release?: Release): Promise<void> {
    return this.#unloads.unload(actor, reason, committed, release);
  }

  /** Works on a stored thread's journal while no one else can get at it. It is unloaded first. */
  async withStored(
    threadId: string,
    access: Access,
    reason: UnloadReason,
    work: (journal: ThreadJournal, head: Head, announce: Announce) => Promise<void>,
  ): Promise<void> {
    const id = parseThreadId(threadId);
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot?.kind === "loaded") {
        const { actor } = slot;
        if (!access(actor.owner)) throw fault("noRollout", id);
        if (actor.ephemeral) throw fault("noRollout", threadId);
        return this.unload(actor, reason, undefined, async (journal) => {
          const done = closing(journal, async () => {
            const head = await recall(journal);
            if (head === undefined) throw fault("noRollout", threadId);
            // Its journal took something that nobody was told of, before it took nothing more.
            if (journal.undone) await this.#ports.recovering(id);
            await work(journal, head, (method, params) => this.announce(actor, method, params));
          });
          await done.catch((cause: unknown) => {
            // It is unloaded all the same, and neither archived nor deleted.
            this.announce(actor, "thread/closed", { threadId: actor.id });
            throw cause;
          });
        });
      }
      if (slot !== undefined) {
        await slot.done;
        continue;
      }
      return this.#slots.occupy(id, async () => {
        const { journal, head } = await this.#stored.openEnded(id, access);
        const done = closing(journal, () =>
          work(journal, head, (method, params) => {
            this.#ports.broadcast(head.state.facts, method, notificationFrame(method, params, this.#now()));
          }),
        );
        await done.finally(() => this.#stored.makeGood(id, journal));
      });
    }
  }

  /**
   * The end: what is on its way in is waited for, nothing new is taken. Threads that wait for an answer are left
   * to the next host as they are.
   */
  async unloadAll(reason: UnloadReason): Promise<ShutdownCounts> {
    this.#closing = true;
    await Promise.all(this.#starting.values());
    for (const slot of [...this.#slots.values()]) if (slot.kind === "busy") await slot.done;
    return this.#unloads.all([...this.loaded()], reason);
  }

  /** What hosts left that ended without saying so. */
  recover(): Promise<void> {
    return this.#recovery.run();
  }

  /** Tells something about a thread that no record holds. */
  announce<N extends NotificationName>(
    actor: Actor,
    method: N,
    params: NotificationParams<N> | Encoded<NotificationParams<N>>,
  ): void {
    actor.announce(method, notificationFrame(method, params, this.#now()));
  }

  async #load(id: string, access: Access, request: LoadRequest): Promise<Actor> {
    const held = await this.#stored.open(id, access);
    const { journal, head } = held;
    const told = { has: (recipient: Recipient) => recipient === request.replayed };
    if (outlives(head.state)) return this.#adopt(held, told);
    try {
      if (journal.place.archived) throw fault("archived", id);
      const { settings, facts } = head.state;
      const changes = await request.changes(settings, facts.owner);
      const docs = await request.docs(changes.cwd ?? settings.cwd, facts.owner);
      const command: Command = { kind: "open", at: this.#now(), changes, load: request.load, docs };
      return this.#enter({ journal, head: await this.#stored.commit(held, command, undefined, told) });
    } catch (cause) {
      await this.#stored.giveBack(id, journal);
      throw cause;
    }
  }

  /** A thread that was loaded when its host ended stays loaded. */
  async #adopt(held: Held, told?: ThreadName["subscriptions"]): Promise<Actor> {
    const { journal } = held;
    try {
      const { facts, requests } = held.head.state;
      const sealed = requests.filter(({ aside }) => aside?.kind === "oauth").map(({ id }) => id);
      await this.#ports.secrets.recall(facts.id, sealed);
      const command: Command = { kind: "adopt", at: this.#now() };
      return this.#enter({ journal, head: await this.#stored.commit(held, command, undefined, told) });
    } catch (cause) {
      // The claim stays: there is still something to go on with.
      await journal.rest();
      throw cause;
    }
  }

  async #adoptForNobody(held: Held): Promise<void> {
    const actor = await this.#adopt(held);
    this.#ports.adopted(actor);
    // Nobody comes to see it, and tool servers have sent it something, or may.
    if (isLive(held.head.state)) actor.goOn();
  }

  #enter({ head, journal }: Held): Actor {
    const actor = new Actor(head, journal, this.#actorPorts);
    this.#ports.loaded(head.state);
    this.#slots.enter(actor);
    this.#family.enter(actor);
    try {
      // A turn that runs goes on at once; what is only due begins when whoever loads it is ready to see it.
      if (head.state.turn !== null) this.#ports.reconcile(actor, head.state);
      this.#touched(actor);
    } catch (cause) {
      // It is loaded, and can be unloaded again.
      actor.fail(cause);
    }
    return actor;
  }

  #touched(actor: Actor): void {
    this.#resident(actor);
    this.#ports.changed(actor);
  }

  #resident(actor: Actor): void {
    if (this.#slots.has(actor)) this.#residents.touch(actor);
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

/** However the work ends, the thread is given back. */
async function closing(journal: ThreadJournal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await journal.close();
  }
}
