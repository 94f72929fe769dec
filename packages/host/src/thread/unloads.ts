import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import type { Command } from "../core/commands.ts";
import type { UnloadReason } from "../core/life/records.ts";
import type { ThreadJournal } from "../journal/journal.ts";
import type { Head } from "../journal/recall.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Cancel, Platform } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import type { Family } from "./family.ts";
import type { Residents } from "./residents.ts";
import type { Slots } from "./slots.ts";
import type { Held, Stored } from "./stored.ts";

/** How long the end of a load waits for followers who have not heard all of it. */
const PATIENCE_MS = 2000;
/** At the end of the host: each one may have to open its journal. */
const AT_ONCE = 32;

/** Gives a thread's journal back, or does something with it first. */
export type Release = (journal: ThreadJournal) => Promise<void>;

/** What became of the threads that a host had loaded at its end. */
export interface ShutdownCounts {
  readonly closed: number;
  /** Left to the next host as they are, because they wait for something. */
  readonly parked: number;
}

interface UnloadPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly slots: Slots;
  readonly stored: Stored;
  readonly family: Family;
  readonly residents: Residents;
  unloaded(actor: Actor): void;
  announce<N extends NotificationName>(actor: Actor, method: N, params: NotificationParams<N>): void;
  /** The host is about to end. */
  ending(): boolean;
}

/** The ends of loads. */
export class Unloads {
  readonly #ports: UnloadPorts;
  /** Threads whose closing is not durable yet, and who wants to know when it is. */
  readonly #closings = new Map<Actor, (() => void)[]>();

  constructor(ports: UnloadPorts) {
    this.#ports = ports;
  }

  unload(
    actor: Actor,
    reason: UnloadReason,
    committed: () => void = () => {},
    release: Release = (journal) => journal.close(),
  ): Promise<void> {
    const { slots, residents } = this.#ports;
    const slot = slots.get(actor.id);
    // Two may want it at once, a timer and the end of the host, say: the first one's closing serves both.
    if (slot?.kind !== "loaded" || slot.actor !== actor) {
      const waiting = this.#closings.get(actor);
      if (waiting === undefined) committed();
      else waiting.push(committed);
      return slot?.kind === "busy" ? slot.done : Promise.resolve();
    }
    const waiting = [committed];
    this.#closings.set(actor, waiting);
    residents.delete(actor);
    return slots.occupy(actor.id, async () => {
      await this.#unloadChildren(actor, reason);
      await this.#close(actor, reason, () => {
        this.#closings.delete(actor);
        for (const one of waiting.splice(0)) one();
      });
      // At the end of the host each connection is waited for when it is closed.
      await actor.subscriptions.finish(this.#ports.ending() ? undefined : this.#patience);
      this.#gone(actor);
      await release(actor.journal).finally(() => this.#ports.stored.makeGood(actor.id, actor.journal));
    });
  }

  /** For the end of the host: threads that wait for something from outside are left to the next one as they are. */
  async all(actors: readonly Actor[], reason: UnloadReason): Promise<ShutdownCounts> {
    const left = [...actors];
    const count = { closed: 0, parked: 0 };
    const unloadRest = async () => {
      for (let actor = left.pop(); actor !== undefined; actor = left.pop()) {
        const stays = !actor.ephemeral && (actor.waits || actor.live);
        await this.#reported(actor, stays ? this.#park(actor) : this.unload(actor, reason));
        count[stays ? "parked" : "closed"]++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, unloadRest));
    return count;
  }

  async #unloadChildren(actor: Actor, reason: UnloadReason): Promise<void> {
    const below = reason === "shutdown" ? reason : "requested";
    const children = this.#ports.family.childrenOf(actor);
    await Promise.all(children.map((child) => this.#reported(child, this.unload(child, below))));
  }

  /** What is wrong with one is no reason for others to stay. */
  async #reported(actor: Actor, done: Promise<void>): Promise<void> {
    await done.catch((cause) => this.#ports.supervisor.report(`unloading thread ${actor.id}`, cause));
  }

  async #close(actor: Actor, reason: UnloadReason, committed: () => void): Promise<void> {
    const { supervisor, announce } = this.#ports;
    let head: Head;
    try {
      head = await actor.close(reason, committed);
    } catch (cause) {
      // Its journal takes nothing more, but it goes all the same, and those who have to know are told. What could not
      // be closed is closed, and told to tool servers, when it is next taken.
      supervisor.report(`closing thread ${actor.id}`, cause);
      this.#ports.stored.toldClosed(actor.journal, actor.id);
      committed();
      announce(actor, "thread/status/changed", { threadId: actor.id, status: { type: "notLoaded" } });
      // Of these something else is told instead, when it is done.
      if (reason !== "archived" && reason !== "deleted")
        announce(actor, "thread/closed", { threadId: actor.id });
      return;
    }
    await this.#tellClosed({ journal: actor.journal, head });
  }

  async #tellClosed(held: Held): Promise<void> {
    try {
      await this.#ports.stored.tellClosed(held);
    } catch (cause) {
      this.#ports.supervisor.report(`telling that thread ${held.head.state.facts.id} was closed`, cause);
    }
  }

  /** Its claim stays, for the next start to find. */
  async #park(actor: Actor): Promise<void> {
    const { slots, platform, supervisor } = this.#ports;
    await slots.occupy(actor.id, async () => {
      if (actor.activeTurn !== undefined && !actor.waits) {
        // What runs here can not go on elsewhere.
        const interrupt: Command = { kind: "interrupt", at: platform.clock.now(), turnId: null };
        await actor.submit(interrupt).catch(() => {});
      }
      await actor.park().catch((cause) => supervisor.report(`parking thread ${actor.id}`, cause));
      await actor.subscriptions.finish(undefined);
      this.#gone(actor);
      await actor.journal.rest();
    });
  }

  #gone(actor: Actor): void {
    this.#ports.unloaded(actor);
    this.#ports.family.leave(actor);
  }

  readonly #patience = (over: () => void): Cancel => {
    return this.#ports.platform.timers.after(PATIENCE_MS, over);
  };
}
