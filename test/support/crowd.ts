// Clients of several hosts that all use the same threads, and remember what was acknowledged.
import { setTimeout as wait } from "node:timers/promises";
import { Ledger } from "../model/ledger.ts";
import type { Random } from "../simulation/random.ts";
import type { WireClient } from "./wire-client.ts";

/** Error codes that are expected if other clients use the same threads. */
const REFUSALS: ReadonlySet<string> = new Set(
  "heldElsewhere threadNotFound threadNotLoaded noRollout archived notArchived".split(" "),
);

const METHODS = [
  ...["thread/start", "thread/resume", "thread/resume", "thread/resume", "turn/start", "turn/start"],
  ...["thread/name/set", "thread/name/set", "thread/unload", "thread/unload", "thread/read"],
  ...["thread/archive", "thread/unarchive", "thread/delete", "thread/list"],
];

/** What all clients together know, whichever host they are connected to. */
export class Crowd {
  readonly ledger = new Ledger();
  readonly refusals: string[] = [];
  readonly #random: Random;
  readonly #threads: string[] = [];
  /** How many requests got a reply. */
  replies = 0;
  /** How many turns were acknowledged. */
  turns = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Sends requests one after the other, until `more` returns false or the host is gone. */
  async act(client: WireClient, more: () => boolean): Promise<void> {
    let gone = false;
    void client.closed.then(() => {
      gone = true;
    });
    while (!gone && more()) {
      await this.#ask(client).catch((cause: Error) => {
        if (!gone) throw cause;
      });
    }
  }

  async #ask(client: WireClient): Promise<void> {
    const random = this.#random;
    const threadId = this.#threads.length > 0 ? random.pick(this.#threads.slice(-6)) : undefined;
    const method = threadId === undefined ? "thread/start" : random.pick(METHODS);
    const name = `name ${random.uint32()}`;
    if (method === "thread/delete") this.ledger.deleting(threadId!);
    const { result, error } = await client.request(method, params(method, threadId, name));
    this.replies++;
    if (error !== undefined && !REFUSALS.has(error.data.code))
      this.refusals.push(`${method}: ${error.message}`);
    if (result === undefined) return;
    if (method === "thread/start") this.#threads.push(result.thread.id);
    if (method === "thread/delete") this.ledger.deleted(threadId!);
    if (method === "thread/name/set") this.ledger.promise(threadId!, `"name":"${name}"`, true);
    if (method !== "turn/start") return;
    this.turns++;
    this.ledger.promise(threadId!, `"turnStarted","turnId":"${result.turn.id}"`, true);
    // Without the pause, the next request would always come while the turn runs.
    if (random.chance(0.5)) await wait(random.between(0, 60));
  }
}

function params(method: string, threadId: string | undefined, name: string): object {
  switch (method) {
    case "thread/start":
    case "thread/list":
      return {};
    case "turn/start":
      return { threadId, input: [{ type: "text", text: `common words of ${name}` }] };
    case "thread/unload":
      return { threadId, interrupt: true };
    case "thread/name/set":
      return { threadId, name };
    default:
      return { threadId };
  }
}
