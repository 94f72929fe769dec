import type { LoadSettings } from "@bobbin/protocol";
import type { Command } from "../core/commands.ts";
import type { ProjectDoc, ThreadSettings } from "../core/life/records.ts";
import type { ThreadState } from "../core/state.ts";
import { outlives } from "../core/turn/dead-host-recovery.ts";
import { fault } from "../errors.ts";
import type { Clock } from "../platform/platform.ts";
import { Actor, type ActorPorts } from "./actor.ts";
import type { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";
import type { LoadedChildren } from "./loaded-children.ts";
import type { ThreadObserver } from "./observers.ts";
import type { Secrets } from "./request-secrets.ts";
import type { Access, StartRequest, StoredThreads, ThreadName, WritableThread } from "./stored-threads.ts";
import type { Recipient } from "./subscription.ts";

/** The settings that a load changes. */
export interface LoadRequest {
  changes(now: ThreadSettings, owner: string): Promise<Partial<ThreadSettings>>;
  readonly load: LoadSettings;
  docs(settings: ThreadSettings, owner: string): Promise<readonly ProjectDoc[]>;
  /** The client whose replay contains the notification about this load. The notification is not sent to it again. */
  readonly replayed?: Recipient | undefined;
}

/** The caller that a thread is loaded for. */
export interface Follower {
  /** Replies to the client and subscribes it. No other command runs meanwhile; due effects start afterwards. */
  join(actor: Actor, state: ThreadState, cold: boolean): Promise<void>;
  /** Called after `join`, or instead of `join` if the thread has failed. */
  joined?(actor: Actor): void;
}

export interface ThreadLoaderPorts {
  readonly clock: Clock;
  readonly slots: LoadedAndBusyThreads;
  readonly stored: StoredThreads;
  readonly family: LoadedChildren;
  readonly secrets: Pick<Secrets, "recall">;
  readonly observers: Pick<Required<ThreadObserver>, "loaded">;
  readonly actorPorts: ActorPorts;
  /** Called after a thread of a dead host was loaded without a subscriber. */
  adopted(actor: Actor): void;
  /** Whether the host is shutting down. */
  ending(): boolean;
}

/** A thread that was just loaded. `joined` settles when its follower has joined or failed to join. */
interface LoadedActor {
  readonly actor: Actor;
  readonly joined: Promise<void>;
}

const NOBODY: Promise<void> = Promise.resolve();

/** Starts, loads and adopts threads. */
export class ThreadLoader {
  readonly #ports: ThreadLoaderPorts;

  constructor(ports: ThreadLoaderPorts) {
    this.#ports = ports;
  }

  /**
   * Creates a thread, with the history of the request. Other operations on the thread wait meanwhile: the ID of a
   * child is known before its thread is created.
   */
  async start(request: StartRequest, follower?: Follower): Promise<Actor> {
    const { slots, stored, ending } = this.#ports;
    const { id } = request.facts;
    const { actor, joined } = await slots.settled<LoadedActor>(
      id,
      () => {
        throw new Error(`the thread ${id} is loaded already`);
      },
      () => {
        if (ending()) throw fault("shuttingDown");
        return slots.occupy(id, async () => this.#enter(await stored.create(request), follower));
      },
    );
    await joined;
    return actor;
  }

  /** Loads a thread, if it is not loaded, and lets the follower join it. */
  async load(id: string, access: Access, request: LoadRequest, follower: Follower): Promise<Actor> {
    return this.#ports.slots.settled(
      id,
      async (actor) => {
        if (!access(actor.owner)) throw fault("noRollout", id);
        await joining(actor, follower, false);
        return actor;
      },
      async () => {
        if (this.#ports.ending()) throw fault("shuttingDown");
        const { actor, joined } = await this.#ports.slots.occupy(id, () =>
          this.#load(id, access, request, follower),
        );
        await joined;
        return actor;
      },
    );
  }

  async #load(id: string, access: Access, request: LoadRequest, follower: Follower): Promise<LoadedActor> {
    const held = await this.#ports.stored.open(id, access);
    const { journal, head } = held;
    const alreadyNotified = { has: (recipient: Recipient) => recipient === request.replayed };
    if (outlives(head.state)) return this.#adopt(held, alreadyNotified, follower);
    try {
      if (journal.place.archived) throw fault("archived", id);
      const { settings, facts } = head.state;
      const changes = await request.changes(settings, facts.owner);
      const docs = await request.docs({ ...settings, ...changes }, facts.owner);
      const command: Command = { kind: "open", at: this.#now(), changes, load: request.load, docs };
      const opened = await this.#ports.stored.commit(held, command, undefined, alreadyNotified);
      return this.#enter({ journal, head: opened }, follower);
    } catch (cause) {
      await this.#ports.stored.closeAndRecover(id, journal);
      throw cause;
    }
  }

  /** Takes over a thread that was loaded when its host died. */
  async #adopt(
    held: WritableThread,
    alreadyNotified?: ThreadName["subscriptions"],
    follower?: Follower,
  ): Promise<LoadedActor> {
    const { journal } = held;
    try {
      const { facts, requests } = held.head.state;
      const sealed = requests.filter(({ aside }) => aside?.kind === "oauth").map(({ id }) => id);
      await this.#ports.secrets.recall(facts.id, sealed);
      const command: Command = { kind: "adopt", at: this.#now() };
      const adopted = await this.#ports.stored.commit(held, command, undefined, alreadyNotified);
      return this.#enter({ journal, head: adopted }, follower);
    } catch (cause) {
      // This host keeps the claim, so that the thread can continue later.
      await journal.rest();
      throw cause;
    }
  }

  /** Takes over a thread without a follower. */
  async adoptForNobody(held: WritableThread): Promise<void> {
    const { actor } = await this.#adopt(held);
    this.#ports.adopted(actor);
    actor.goOn();
  }

  /**
   * Creates the actor. The join of the follower is the first entry in the actor's mailbox, so that the thread is not
   * unloaded before the follower has joined.
   */
  #enter({ head, journal }: WritableThread, follower?: Follower): LoadedActor {
    const actor = new Actor(head, journal, this.#ports.actorPorts);
    this.#ports.slots.enter(actor);
    this.#ports.family.enter(actor);
    try {
      this.#ports.observers.loaded(actor, head.state);
    } catch (cause) {
      // The thread stays loaded, though broken, and can be unloaded.
      actor.fail(cause);
    }
    const joined = follower === undefined ? NOBODY : joining(actor, follower, true);
    // The caller awaits `joined` itself, after it has freed the slot.
    joined.catch(() => {});
    return { actor, joined };
  }

  #now(): number {
    return this.#ports.clock.now();
  }
}

async function joining(actor: Actor, follower: Follower, cold: boolean): Promise<void> {
  try {
    await actor.join((state) => follower.join(actor, state, cold));
  } finally {
    follower.joined?.(actor);
  }
}
