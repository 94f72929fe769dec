import assert from "node:assert/strict";
import type { Message } from "../simulation/frame-rules.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { Ledger } from "./ledger.ts";

interface Seen {
  /** The last notification about the thread. */
  last: string | undefined;
  /** Whether `thread/closed` was sent, and no sign of another load since. */
  closed: boolean;
  /** The last cursor of this subscription. */
  cursor: readonly [epoch: number, seq: number, index: number] | undefined;
}

/** Sent to a client that resumes, outside of the feed and without a cursor. */
const BESIDE: ReadonlySet<string> = new Set([
  "thread/tokenUsage/updated",
  "thread/goal/updated",
  "thread/goal/cleared",
]);

/** Notifications that move or remove a thread. Everything about the thread must be sent before them. */
const ENDS: ReadonlySet<string> = new Set(["thread/archived", "thread/deleted"]);

/** What clients of a run got under each cursor. It must not depend on the client or the time. */
export type Chronicle = Map<string, string>;

/** Checks in one client's frames what must hold in any order of events. */
export class Witness {
  readonly #client: SimClient;
  readonly #ledger: Ledger;
  readonly #chronicle: Chronicle;
  readonly #elsewhere: () => boolean;
  readonly #host: string;
  readonly #threads = new Map<string, Seen>();
  #looked = 0;

  /** `elsewhere`: other hosts may load and close threads, too, and this client sees only some of that. */
  constructor(
    client: SimClient,
    ledger: Ledger,
    chronicle: Chronicle,
    { host, elsewhere = () => false }: { readonly host: string; readonly elsewhere?: () => boolean },
  ) {
    this.#client = client;
    this.#host = host;
    this.#ledger = ledger;
    this.#chronicle = chronicle;
    this.#elsewhere = elsewhere;
  }

  /** Checks the frames since the last call. */
  look(): void {
    const { frames } = this.#client;
    for (; this.#looked < frames.length; this.#looked++) {
      const frame = frames[this.#looked]!;
      if (frame.method === undefined) this.#reply(frame);
      else this.#told(frame.method, frame.params!);
    }
  }

  #reply({ id, result }: Message): void {
    const { method, params } = this.#client.asked.get(id!)!;
    if (result === undefined) return;
    const thread = result.thread as { id: string } | undefined;
    const threadId = thread?.id ?? (params.threadId as string);
    switch (method) {
      case "thread/start":
      case "thread/fork":
        this.#ledger.promise(threadId, `"created"`, false);
        break;
      case "turn/start":
        this.#ledger.promise(
          threadId,
          `"turnStarted","turnId":"${(result.turn as { id: string }).id}"`,
          false,
        );
        break;
      case "thread/delete":
        this.#ledger.deleted(threadId);
        break;
      case "thread/name/set":
        this.#ledger.promise(threadId, `"name":"${params.name as string}"`, false);
        break;
    }
    if (["thread/start", "thread/fork", "thread/resume"].includes(method)) {
      const seen = this.#seen(threadId);
      seen.closed = false;
      // The feed continues, unless the client asks for it from another position.
      if (method === "thread/resume" && result.replay !== undefined) seen.cursor = undefined;
      // A replay may begin between two notifications that belong together.
      if (params.afterCursor !== undefined) seen.last = "thread/status/changed notLoaded";
    }
  }

  #told(method: string, params: Record<string, unknown>): void {
    // It is about no thread.
    if (method === "threadSection/changed") return;
    const threadId = (params.threadId as string | undefined) ?? (params.thread as { id: string }).id;
    const seen = this.#seen(threadId);
    const status = (params.status as { type: string } | undefined)?.type;
    const what = status === undefined ? method : `${method} ${status}`;
    if (method === "thread/closed") {
      assert.equal(seen.last, "thread/status/changed notLoaded", this.#about(threadId, "told closed after"));
      assert(!seen.closed || this.#elsewhere(), this.#about(threadId, "told closed twice for one load"));
      seen.closed = true;
      this.#ledger.closed(threadId, this.#host, this.#client.name, params.cursor as string | undefined);
    } else if (method === "thread/started" || (status !== undefined && status !== "notLoaded")) {
      seen.closed = false;
    }
    if (method === "serverRequest/resolved") this.#ledger.resolved(threadId, params.requestId as number);
    if (method === "turn/completed") {
      const { id } = params.turn as { id: string };
      this.#ledger.promise(threadId, `"turnEnded","turnId":"${id}"`, true);
    }
    if (params.cursor !== undefined) {
      assert(!ENDS.has(seen.last ?? ""), this.#about(threadId, `told ${what} after ${seen.last}`));
    }
    if (params.cursor !== undefined || !BESIDE.has(method)) seen.last = what;
    if (params.cursor !== undefined) this.#cursor(threadId, seen, params.cursor as string, what);
  }

  #cursor(threadId: string, seen: Seen, text: string, what: string): void {
    const cursor = text.split(".").map(Number) as [number, number, number];
    const before = seen.cursor;
    if (before !== undefined) {
      const [, seq, index] = before;
      const [, nextSeq, nextIndex] = cursor;
      const follows = nextSeq > seq || (nextSeq === seq && nextIndex === index + 1);
      assert(follows, this.#about(threadId, `told ${text} after ${before.join(".")}`));
    }
    seen.cursor = cursor;
    const key = `${threadId} ${text}`;
    const known = this.#chronicle.get(key) ?? what;
    assert.equal(what, known, this.#about(threadId, `told something else under ${text} than another`));
    this.#chronicle.set(key, what);
  }

  #seen(threadId: string): Seen {
    const seen = this.#threads.get(threadId) ?? { last: undefined, closed: false, cursor: undefined };
    this.#threads.set(threadId, seen);
    return seen;
  }

  #about(threadId: string, what: string): string {
    return `${this.#client.name}, thread ${threadId}: ${what}`;
  }
}
