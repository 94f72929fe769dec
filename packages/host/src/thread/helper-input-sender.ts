import type { HelperCommand } from "../core/children/commands.ts";
import { findHelper, type HelperInput } from "../core/children/helper-thread-state.ts";
import type { Command } from "../core/commands.ts";
import type { ThreadState } from "../core/state.ts";
import type { Blobs } from "../core/turn/blobs.ts";
import { Fault } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import type { CrossThreadWakeups } from "./cross-thread-wakeups.ts";
import type { HelperNewsReader } from "./helper-news-reader.ts";
import { type HelperLoadPorts, loadHelper } from "./load-helper-thread.ts";

export interface HelperInputPorts extends HelperLoadPorts {
  readonly platform: Pick<Platform, "clock" | "ids">;
  /** Prepares input for the helper, and stores its media as blobs of the helper's thread. */
  prepare(
    helper: Actor,
    state: ThreadState,
    input: HelperInput["input"],
  ): Promise<{ readonly input: HelperInput["input"]; readonly blobs: Blobs | undefined }>;
}

/** Sends helpers the input that their parents have for them. */
export class HelperInputSender {
  readonly #ports: HelperInputPorts;
  readonly #news: HelperNewsReader;
  /** Wakes when a turn of a helper has ended. */
  readonly #wakeups: CrossThreadWakeups;

  constructor(ports: HelperInputPorts, news: HelperNewsReader, wakeups: CrossThreadWakeups) {
    this.#ports = ports;
    this.#news = news;
    this.#wakeups = wakeups;
  }

  /** Sends input to a helper. If the helper is in a compaction or review, waits for the end of that turn. */
  async send(
    parent: Actor,
    childId: string,
    inputId: string,
    signal: AbortSignal,
  ): Promise<HelperCommand | undefined> {
    while (!signal.aborted) {
      // Registered before sending, so that a turn that ends meanwhile is not missed.
      const wakeup = this.#wakeups.wait(childId, signal);
      try {
        return await this.#try(parent, childId, inputId);
      } catch (cause) {
        if (!(cause instanceof Fault) || cause.code !== "turnNotSteerable") throw cause;
      }
      await wakeup;
    }
    return undefined;
  }

  async #try(parent: Actor, childId: string, inputId: string): Promise<HelperCommand | undefined> {
    const { platform, idle } = this.#ports;
    // Input for a closed helper does not open the helper again.
    const before = await this.#pendingInput(parent, childId, inputId);
    if (before === undefined) return undefined;
    let actor: Actor;
    try {
      actor = await loadHelper(this.#ports, before.state, childId);
    } catch (cause) {
      const isGone = cause instanceof Fault && (cause.code === "noRollout" || cause.code === "archived");
      if (!isGone) throw cause;
      return { kind: "helperFailed", at: this.#now(), childId, why: cause.message };
    }
    // A client may have closed the helper before it was loaded here. A later close comes before or after the input in
    // the helper's mailbox.
    const input = (await this.#pendingInput(parent, childId, inputId))?.input;
    if (input === undefined) {
      idle.refused(actor, 0);
      idle.consider(actor);
      return undefined;
    }
    // The parent was closed in between, and its helpers with it.
    if (this.#ports.registry.get(parent.id) !== parent) return undefined;
    let seq: number | null = null;
    const start: Command = {
      kind: "startTurn",
      at: this.#now(),
      turnId: platform.ids.uuid(),
      userItemId: platform.ids.uuid(),
      clientUserMessageId: null,
      inputId,
      ...(await this.#ports.prepare(actor, await actor.peek(), input.input)),
      outputSchema: null,
      changes: input.permissions ?? {},
      rootTurnId: input.rootTurnId,
    };
    const taken = (after: ThreadState): void => {
      seq = after.turn === null ? null : actor.head;
    };
    // Synced, because the parent drops its copy of the input afterwards.
    await actor.submit(start, taken, true);
    return { kind: "helperInputTaken", at: this.#now(), childId, inputId, seq };
  }

  /** The input, if the helper is still open and has not taken it, and the state of its parent. */
  async #pendingInput(
    parent: Actor,
    childId: string,
    inputId: string,
  ): Promise<{ readonly input: HelperInput; readonly state: ThreadState } | undefined> {
    await this.#news.read(parent.id, childId);
    const state = await parent.peek();
    const input = findHelper(state.helpers, childId)?.inputs.find(({ id }) => id === inputId);
    return input && { input, state };
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}
