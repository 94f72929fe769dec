import type { HelperCommand } from "../core/children/commands.ts";
import { helperFacts } from "../core/children/helper-identity.ts";
import type { HelperEffect } from "../core/next.ts";
import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Actor } from "./actor.ts";
import { createHelper, type HelperCreationPorts } from "./create-helper-thread.ts";
import { CrossThreadWakeups } from "./cross-thread-wakeups.ts";
import { type HelperInputPorts, HelperInputSender } from "./helper-input-sender.ts";
import { hasNews } from "./helper-news.ts";
import { type HelperNewsPorts, HelperNewsReader } from "./helper-news-reader.ts";

export interface HelperPorts extends HelperCreationPorts, HelperInputPorts, HelperNewsPorts {
  readonly platform: HelperInputPorts["platform"] & HelperNewsPorts["platform"];
}

/** Performs the effects of helpers: creates their threads, sends them input, and reads their journals for their parents. */
export class HelperEffectPerformer {
  readonly #ports: HelperPorts;
  readonly #wakeups = new CrossThreadWakeups();
  readonly #news: HelperNewsReader;
  readonly #inputs: HelperInputSender;

  constructor(ports: HelperPorts) {
    this.#ports = ports;
    this.#news = new HelperNewsReader(ports, this.#wakeups);
    this.#inputs = new HelperInputSender(ports, this.#news, this.#wakeups);
  }

  /** Performs an effect for a helper. Returns the command for the parent, if there is one. */
  async perform(
    parent: Actor,
    { what, helper }: HelperEffect,
    signal: AbortSignal,
  ): Promise<HelperCommand | undefined> {
    const { childId } = helper;
    switch (what) {
      case "make": {
        const at = this.#ports.platform.clock.now();
        const heard = await createHelper(this.#ports, parent, await parent.peek(), helper);
        return { kind: "helperMade", at, childId, heard };
      }
      case "send":
        return this.#inputs.send(parent, childId, helper.inputs[0]!.id, signal);
      case "hear":
        await this.#news.follow(parent.id, childId, signal);
        return undefined;
    }
  }

  /** Called for every commit of every thread. */
  committed(commit: Commit, { facts, helpers }: ThreadState): void {
    if (helpers.had) this.#reconsiderUnload(commit);
    const { id } = facts;
    if (helperFacts(facts) === undefined || !hasNews(commit)) return;
    this.#wakeups.wake(id);
  }

  /** Checks whether helpers may be unloaded. Open helpers stay loaded, closed ones do not. */
  #reconsiderUnload({ records }: Commit): void {
    const { registry, idle } = this.#ports;
    for (const record of records) {
      if (record.type !== "helperOpened" && record.type !== "helperClosed") continue;
      const child = registry.get(record.childId);
      if (child === undefined) continue;
      idle.refused(child, 0);
      idle.consider(child);
    }
  }

  /**
   * Records the results that a thread's helpers had before they were closed with the thread, so that the model gets
   * them when the thread is loaded again. Undefined if the thread has no helpers.
   */
  leaving(parent: Actor): Promise<void> | undefined {
    if (parent.helpers.length === 0) return undefined;
    const hear = async (): Promise<void> => {
      for (const childId of parent.helpers) await this.#news.submitResults(parent, childId);
    };
    return hear();
  }
}
