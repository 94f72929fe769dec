import type { LoadSettings, NotificationName, NotificationParams, ThreadStatus } from "@bobbin/protocol";
import type { Encoded } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import type { ProjectDoc, ThreadSettings, UnloadReason } from "../core/life/records.ts";
import type { Place } from "../core/life/views.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { outlives } from "../core/turn/restart.ts";
import { Fault, fault } from "../errors.ts";
import type { JournalReader, ThreadJournal } from "../journal/journal.ts";
import { type Head, recall } from "../journal/recall.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Cancel, Platform } from "../platform/platform.ts";
import { Actor } from "./actor.ts";
import { notificationFrame } from "./notification-frame.ts";
import { Residents } from "./residents.ts";
import {
  type Access,
  type Held,
  type StartRequest,
  Stored,
  type StoredPorts,
  type ThreadName,
} from "./stored.ts";
import type { Recipient } from "./subscription.ts";

export interface RegistryPorts extends StoredPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly maxResident: number;
  /** Makes what performs a thread's effects; called after each commit, and when there may be something to do. */
  runner(actor: Actor): (state: ThreadState, commit?: Commit) => void;
  /** Something has changed that may let a thread be unloaded. */
  changed(actor: Actor): void;
  unloaded(actor: Actor): void;
  /** A thread whose host is gone is about to be closed: what that host did not get to write has to be made good. */
  recovering(threadId: string): Promise<{ readonly open: boolean }>;
  /** Every thread that lists know of. */
  listed(): Promise<readonly string[]>;
  /** A thread of a host that is gone is loaded again, and nobody follows it. */
  adopted(actor: Actor): void;
}

/** A thread is loaded, or on its way in or out; all others are not in the map. */
type Slot =
  | { readonly kind: "loaded"; readonly actor: Actor }
  /** Loading, closing, or worked on without being loaded: whoever comes waits for the end of it. */
  | { readonly kind: "busy"; readonly done: Promise<void> };

const NOT_LOADED: ThreadStatus = { type: "notLoaded" };

/** How long the end of a load waits for followers who have not heard all of it. */
const PATIENCE_MS = 2000;

/** Tells something about a thread that no record holds. */
export type Announce = <N extends NotificationName>(method: N, params: NotificationParams<N>) => void;

/** What a load changes, for the thread and for good. */
export interface LoadRequest {
  readonly changes: (now: ThreadSettings) => Partial<ThreadSettings>;
  readonly load: LoadSettings;
  docs(cwd: string): Promise<readonly ProjectDoc[]>;
  /** Told by a replay that the thread is loaded, so not by us. */
  readonly replayed?: Recipient | undefined;
}

/** All loaded threads: start, load, unload, and hibernate in between. */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #slots = new Map<string, Slot>();
  readonly #residents: Residents;
  readonly #stored: Stored;
  /** Threads whose closing is not durable yet, and who wants to know when it is. */
  readonly #closings = new Map<Actor, (() => void)[]>();
  /** New threads on their way in; nobody knows their ids yet. */
  readonly #starting = new Set<Promise<unknown>>();
  #closing = false;

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
    this.#residents = new Residents(ports.maxResident);
    this.#stored = new Stored(ports, ports.platform.clock);
  }

  *loaded(): Iterable<Actor> {
    for (const slot of this.#slots.values()) if (slot.kind === "loaded") yield slot.actor;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Threads that are in memory. */
  get residents(): number {
    return this.#residents.size;
  }

  /** The status of a thread that is loaded. */
  statusOf(threadId: string): ThreadStatus | undefined {
    const slot = this.#slots.get(threadId);
    return slot?.kind === "loaded" ? slot.actor.status : undefined;
  }

  /** A loaded thread. One on its way in or out is waited for. */
  async find(threadId: string): Promise<Actor> {
    const actor = await this.findLoaded(threadId);
    if (actor === undefined) throw fault("threadNotFound", threadId);
    return actor;
  }

  async findLoaded(threadId: string): Promise<Actor | undefined> {
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
    const started = this.#stored.create(request).then((held) => this.#enter(held));
    const done = started.catch(() => {}).finally(() => this.#starting.delete(done));
    this.#starting.add(done);
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
        access(slot.actor.owner);
        return { actor: slot.actor, cold: false };
      }
      if (slot === undefined) {
        if (this.#closing) throw fault("shuttingDown");
        return { actor: await this.#occupy(id, () => this.#load(id, access, request)), cold: true };
      }
      await slot.done;
    }
  }

  /** Runs a command on a thread whether or not it is loaded; one that is not stays so. */
  async edit(
    threadId: string,
    access: Access,
    command: Command,
    committed: (state: ThreadState, place: Place, records: readonly ThreadRecord[]) => void,
  ): Promise<void> {
    const id = parseThreadId(threadId);
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot?.kind === "loaded") {
        const { actor } = slot;
        access(actor.owner);
        return actor.submit(command, (state, records) => {
          committed(state, actor.journal.place, records);
        });
      }
      if (slot !== undefined) {
        await slot.done;
        continue;
      }
      const done = await this.#occupy(id, async () => {
        const opened = await this.#stored.open(id, access);
        const { journal } = opened;
        if (outlives(opened.head.state)) {
          this.#ports.adopted(await this.#adopt(opened));
          return false;
        }
        try {
          const held = await this.#stored.end(opened);
          await this.#stored.commit(held, command, (state, records) => {
            committed({ ...state, status: NOT_LOADED }, journal.place, records);
          });
          return true;
        } finally {
          await journal.close();
        }
      });
      if (done) return;
    }
  }

  /** Looks at a thread, loaded or not, without touching it. */
  async read<T>(
    threadId: string,
    access: Access,
    look: (journal: JournalReader, state: ThreadState) => Promise<T>,
  ): Promise<T> {
    const actor = await this.findLoaded(threadId);
    if (actor !== undefined && !actor.broken) {
      access(actor.owner);
      return look(actor.journal, await actor.peek());
    }
    return this.#stored.read(parseThreadId(threadId), access, (journal, { state }) => {
      return look(journal, { ...state, status: actor?.status ?? NOT_LOADED });
    });
  }

  /**
   * Ends a load: the last commit, everyone told, the thread given back by `release`. `committed` runs before
   * anyone is told. Whoever comes meanwhile waits, and finds it not loaded.
   */
  unload(
    actor: Actor,
    reason: UnloadReason,
    committed: () => void = () => {},
    release: (journal: ThreadJournal) => Promise<void> = (journal) => journal.close(),
  ): Promise<void> {
    const slot = this.#slots.get(actor.id);
    // Two may want it at once, a timer and the end of the host, say: the first one's closing serves both.
    if (slot?.kind !== "loaded" || slot.actor !== actor) {
      const waiting = this.#closings.get(actor);
      if (waiting === undefined) committed();
      else waiting.push(committed);
      return slot?.kind === "busy" ? slot.done : Promise.resolve();
    }
    const waiting = [committed];
    this.#closings.set(actor, waiting);
    const allCommitted = () => {
      this.#closings.delete(actor);
      for (const one of waiting.splice(0)) one();
    };
    this.#residents.delete(actor);
    return this.#occupy(actor.id, async () => {
      try {
        await actor.close(reason, allCommitted);
      } catch (cause) {
        // Its journal takes nothing more, but it goes all the same, and those who have to know are told.
        this.#ports.supervisor.report(`closing thread ${actor.id}`, cause);
        allCommitted();
        this.announce(actor, "thread/status/changed", { threadId: actor.id, status: { type: "notLoaded" } });
        this.announce(actor, "thread/closed", { threadId: actor.id });
      }
      // At the end of the host each connection is waited for when it is closed.
      await actor.subscriptions.finish(this.#closing ? undefined : this.#patience);
      this.#ports.unloaded(actor);
      await release(actor.journal);
    });
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
        access(actor.owner);
        if (actor.ephemeral) throw fault("noRollout", threadId);
        return this.unload(actor, reason, undefined, async (journal) => {
          const head = await recall(journal);
          if (head === undefined) throw fault("noRollout", threadId);
          await work(journal, head, (method, params) => this.announce(actor, method, params));
        });
      }
      if (slot !== undefined) {
        await slot.done;
        continue;
      }
      return this.#occupy(id, async () => {
        const { journal, head } = await this.#stored.openEnded(id, access);
        await work(journal, head, (method, params) => {
          this.#ports.broadcast(head.state.facts, method, notificationFrame(method, params, this.#now()));
        });
      });
    }
  }

  /**
   * The end: what is on its way in is waited for, nothing new is taken. Threads that wait for an answer are left
   * to the next host as they are.
   */
  async unloadAll(reason: UnloadReason): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#starting);
    for (const slot of [...this.#slots.values()]) if (slot.kind === "busy") await slot.done;
    const waiting = [...this.loaded()];
    // A few at a time: each one may have to open its journal.
    const unloadRest = async () => {
      for (let actor = waiting.pop(); actor !== undefined; actor = waiting.pop()) {
        await (actor.waits && !actor.ephemeral ? this.#park(actor) : this.unload(actor, reason));
      }
    };
    await Promise.all(Array.from({ length: 32 }, unloadRest));
  }

  /** Threads that their host did not close go on where they can, and are closed now where they can not. */
  async recover(): Promise<void> {
    const { journal } = this.#ports;
    for (const id of await journal.abandoned()) await this.#recover(id, (lost) => this.#closeLost(lost));
    if (await journal.lostPower()) await this.#recoverAll();
  }

  /** After a power cut no claim is sure to be left: every thread is looked at, and everything that is listed. */
  async #recoverAll(): Promise<void> {
    const { journal } = this.#ports;
    const seen = new Set<string>();
    const look = async (id: string) => {
      if (seen.has(id) || this.#closing) return;
      seen.add(id);
      await this.#recover(id, async (lost) => {
        if ((await this.#ports.recovering(lost)).open) await this.#closeLost(lost);
      });
    };
    for await (const { id } of journal.threads()) await look(id);
    for (const id of await this.#ports.listed()) await look(id);
    if (!this.#closing) await journal.madeGood();
  }

  /** Tells something about a thread that no record holds. */
  announce<N extends NotificationName>(
    actor: Actor,
    method: N,
    params: NotificationParams<N> | Encoded<NotificationParams<N>>,
  ): void {
    actor.announce(method, notificationFrame(method, params, this.#now()));
  }

  /** Its claim stays, for the next start to find. */
  async #park(actor: Actor): Promise<void> {
    await this.#occupy(actor.id, async () => {
      await actor.park().catch((cause) => this.#ports.supervisor.report(`parking thread ${actor.id}`, cause));
      await actor.subscriptions.finish(undefined);
      this.#ports.unloaded(actor);
      await actor.journal.rest();
    });
  }

  async #load(id: string, access: Access, request: LoadRequest): Promise<Actor> {
    const held = await this.#stored.open(id, access);
    const { journal, head } = held;
    const told = { has: (recipient: Recipient) => recipient === request.replayed };
    if (outlives(head.state)) return this.#adopt(held, told);
    try {
      if (journal.place.archived) throw fault("archived", id);
      const changes = request.changes(head.state.settings);
      const docs = await request.docs(changes.cwd ?? head.state.settings.cwd);
      const command: Command = { kind: "open", at: this.#now(), changes, load: request.load, docs };
      return this.#enter({ journal, head: await this.#stored.commit(held, command, undefined, told) });
    } catch (cause) {
      await journal.close();
      throw cause;
    }
  }

  /** A thread that was loaded when its host ended stays loaded. */
  async #adopt(held: Held, told?: ThreadName["subscriptions"]): Promise<Actor> {
    const { journal } = held;
    try {
      const command: Command = { kind: "adopt", at: this.#now() };
      return this.#enter({ journal, head: await this.#stored.commit(held, command, undefined, told) });
    } catch (cause) {
      // The claim stays: there is still something to go on with.
      await journal.rest();
      throw cause;
    }
  }

  async #recover(id: string, work: (id: string) => Promise<void>): Promise<void> {
    try {
      await this.#whileNotLoaded(id, work);
    } catch (cause) {
      if (cause instanceof Fault && cause.code === "noRollout") await this.#ports.journal.disown(id);
      // Another host, started at the same time, was quicker.
      else if (cause instanceof Fault && cause.code === "heldElsewhere") return;
      else this.#ports.supervisor.report(`closing the lost thread ${id}`, cause);
    }
  }

  /** Whoever has loaded it in the meantime has made good what was lost; whoever has only changed it has not. */
  async #whileNotLoaded(id: string, work: (id: string) => Promise<void>): Promise<void> {
    for (;;) {
      const slot = this.#slots.get(id);
      if (slot?.kind === "loaded") return void (await this.#ports.recovering(id));
      if (slot === undefined) return this.#occupy(id, () => work(id));
      await slot.done;
    }
  }

  async #closeLost(id: string): Promise<void> {
    // While nobody else can get at it: what the index is told must not be older than what it knows.
    await this.#ports.recovering(id);
    const held = await this.#stored.open(id, () => {});
    if (outlives(held.head.state)) {
      this.#ports.adopted(await this.#adopt(held));
    } else {
      await this.#stored.end(held);
      await held.journal.close();
    }
  }

  #enter({ head, journal }: Held): Actor {
    const { platform, supervisor } = this.#ports;
    const actor: Actor = new Actor(head, {
      journal,
      platform,
      broadcast: (thread, method, frame) => this.#ports.broadcast(thread, method, frame),
      mustSync: (commit) => mustSync(this.#ports.journalSync, commit),
      reconcile: (state, commit) => reconcile(state, commit),
      committed: (commit, state) => {
        if (!actor.ephemeral) this.#ports.committed(commit, state, journal);
        this.#touched(actor);
      },
      // To wake is not to change: a delay that runs goes on as if the thread had never slept.
      woken: () => this.#resident(actor),
      visited: () => this.#ports.changed(actor),
      failed: (cause) => {
        supervisor.report(`journal of thread ${actor.id}`, cause);
        this.announce(actor, "thread/status/changed", {
          threadId: actor.id,
          status: { type: "systemError" },
        });
      },
      supervise: (what, work) => supervisor.take(what, work),
    });
    const reconcile = this.#ports.runner(actor);
    this.#slots.set(actor.id, { kind: "loaded", actor });
    // A turn that runs goes on at once; what is only due begins when whoever loads it is ready to see it.
    if (head.state.turn !== null) reconcile(head.state);
    this.#touched(actor);
    return actor;
  }

  #touched(actor: Actor): void {
    this.#resident(actor);
    this.#ports.changed(actor);
  }

  #resident(actor: Actor): void {
    if (this.#slots.get(actor.id)?.kind === "loaded") this.#residents.touch(actor);
  }

  /** Holds a thread's slot while something is done with it; what is in the slot afterwards is the work's to say. */
  async #occupy<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = work();
    const done = result.then(
      () => {},
      () => {},
    );
    const slot: Slot = { kind: "busy", done };
    this.#slots.set(id, slot);
    try {
      return await result;
    } finally {
      if (this.#slots.get(id) === slot) this.#slots.delete(id);
    }
  }

  readonly #patience = (over: () => void): Cancel => {
    return this.#ports.platform.timers.after(PATIENCE_MS, over);
  };

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

/** What is not told before it survives a power cut, unless configured otherwise. */
const SYNCED: ReadonlySet<string> = new Set<ThreadRecord["type"]>(["turnEnded", "closed", "requestResolved"]);

function mustSync(policy: RegistryPorts["journalSync"], { records }: Commit): boolean {
  if (policy !== "turns") return policy === "always";
  return records.some(({ type }) => SYNCED.has(type));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids are accepted as UUIDs are written: in capitals, without dashes, as a URN. */
export function parseThreadId(text: string): string {
  const plain = text.toLowerCase().replace(/^urn:uuid:/, "");
  const id = /^[0-9a-f]{32}$/.test(plain)
    ? plain.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    : plain;
  if (!UUID.test(id)) throw fault("invalidThreadId", `expected a UUID, found \`${text.slice(0, 64)}\``);
  return id;
}
