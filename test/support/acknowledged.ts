import type { Random } from "../simulation/random.ts";
import type { WireClient } from "./wire-client.ts";

/**
 * What the host has acknowledged to a client about one thread, and what the client had requested when the host was
 * killed.
 */
export interface Known {
  readonly id: string;
  /** Turns whose start the host has replied to, with their final status if the client was notified of it. */
  readonly turns: Map<string, string | undefined>;
  name: string | null;
  archived: boolean;
  deleted: boolean;
  /** The request in progress when the host was killed. It may have taken effect or not. */
  pending?: { readonly name?: string; readonly archived?: boolean; readonly deleted?: boolean };
}

const MOST_THREADS = 8;

/** A client that works on its own threads until its host is gone, and remembers what the host acknowledged. */
export class Worker {
  readonly threads: Known[] = [];
  readonly refusals: string[] = [];
  readonly #random: Random;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Works until the connection has ended. */
  async work(client: WireClient): Promise<void> {
    try {
      for (;;) await this.#step(client);
    } catch (cause) {
      if (!/the wire ended/.test(String(cause))) this.refusals.push(String(cause));
    }
  }

  async #step(client: WireClient): Promise<void> {
    const random = this.#random;
    const there = this.threads.filter(({ deleted }) => !deleted);
    if (there.length === 0 || (there.length < MOST_THREADS && random.chance(0.2))) {
      const id = await client.startThread();
      this.threads.push({ id, turns: new Map(), name: null, archived: false, deleted: false });
      return;
    }
    const thread = random.pick(there);
    const threadId = thread.id;
    if (thread.archived) {
      await this.#doing(thread, { archived: false }, () => client.call("thread/unarchive", { threadId }));
      return;
    }
    switch (random.pick(["turn", "turn", "turn", "name", "unload", "leave", "archive", "delete"])) {
      case "turn":
        return this.#turn(client, thread);
      case "name": {
        const name = `name ${++this.#names}`;
        return this.#doing(thread, { name }, () => client.call("thread/name/set", { threadId, name }));
      }
      case "unload":
        await client.call("thread/unload", { threadId, interrupt: true });
        return;
      case "leave":
        await client.call("thread/unsubscribe", { threadId });
        return;
      case "archive":
        return this.#doing(thread, { archived: true }, () => client.call("thread/archive", { threadId }));
      case "delete":
        if (there.length < MOST_THREADS / 2) return;
        return this.#doing(thread, { deleted: true }, () => client.call("thread/delete", { threadId }));
    }
  }

  async #turn(client: WireClient, { id: threadId, turns }: Known): Promise<void> {
    const random = this.#random;
    await client.call("thread/resume", { threadId, excludeTurns: true });
    const pace = random.chance(0.3) ? "slowly " : "";
    const text = `${pace}common ${"long ".repeat(random.chance(0.1) ? 10_000 : 3)}`;
    const { turn } = await client.call("turn/start", { threadId, input: [{ type: "text", text }] });
    if (!turns.has(turn.id)) turns.set(turn.id, undefined);
    if (pace !== "" && random.chance(0.7)) return;
    if (pace !== "") await client.request("turn/interrupt", { threadId, turnId: turn.id });
    const { params } = await client.turnCompleted(turn.id);
    turns.set(turn.id, params.turn.status);
  }

  async #doing(thread: Known, change: Known["pending"], work: () => Promise<unknown>): Promise<void> {
    thread.pending = change!;
    await work();
    Object.assign(thread, change);
    delete thread.pending;
  }
}
