import type { NotificationName } from "@bobbin/protocol";
import type { Frame, Link, LinkEvents } from "@bobbin/rpc";
import type { Supervisor } from "./observe/supervise.ts";
import type { Cancel, Platform } from "./platform/platform.ts";
import type { Slices } from "./platform/slices.ts";
import { maySee } from "./server/authorize.ts";
import { type Client, Connection } from "./server/connection.ts";
import { type DispatchPorts, dispatch } from "./server/dispatch.ts";
import type { LinkMeta } from "./server/listen/door.ts";
import type { Idle } from "./thread/idle.ts";
import type { Questions } from "./thread/questions.ts";
import type { Registry } from "./thread/registry.ts";
import type { ThreadName } from "./thread/stored.ts";
import type { ShutdownCounts } from "./thread/unloads.ts";

export interface HostParts extends DispatchPorts {
  readonly platform: Platform;
  /** Keeps clients with many requests from holding up others. */
  readonly requests: Slices<Connection>;
  readonly registry: Registry;
  readonly idle: Idle;
  readonly questions: Questions;
  readonly supervisor: Supervisor;
  readonly unloadDelayMs: number | undefined;
  /** Takes what comes from others than clients, also for threads of a host of before. */
  listen(): void;
  /** What comes after the answer to a hello. */
  greeted(connection: Connection): void;
  /** A connection is gone. */
  left(connection: Connection): void;
  /** Ends what clients have started outside of threads. */
  endClientProcesses(): Promise<void>;
  /** Says that this host is about to end. */
  leave(): Promise<void>;
  /** Takes nothing more from anyone but clients. */
  stopListening(): Promise<void>;
  /** Closes what is open besides connections and threads. */
  close(): Promise<void>;
}

/** How long nobody has to be connected before memory is given back. */
const REST_MS = 5000;

/** The process's one host: all connections and all loaded threads. Doors hand it links. */
export class Host {
  readonly #parts: HostParts;
  readonly #connections: Set<Connection>;
  #closing: Promise<ShutdownCounts> | undefined;
  /** What the end is at. */
  #step: string | undefined;
  /** Set while nobody is connected: what comes with that is called off by the next one. */
  #rest: Cancel | undefined;

  constructor(parts: HostParts, connections: Set<Connection>) {
    this.#parts = parts;
    this.#connections = connections;
  }

  /** `greeted`: its `initialize` was answered already. */
  accept(link: Link, meta: LinkMeta, greeted?: Client): LinkEvents {
    const { platform, supervisor, idle, log } = this.#parts;
    const connection = new Connection(link, meta, {
      clock: platform.clock,
      timers: platform.timers,
      unloadDelayMs: this.#parts.unloadDelayMs,
      request: (one, id, method, params) => {
        this.#parts.requests.run(one, () => {
          supervisor.take(method, dispatch(this.#parts, one, id, method, params));
        });
      },
      // At once: it is little to do, and whoever answered may leave.
      answer: (one, id, answer) => this.#parts.questions.answer(one, id, answer),
      closed: (one) => {
        this.#connections.delete(one);
        idle.left(one, one.unloadDelayMs);
        this.#parts.left(one);
        this.#restSoon();
      },
      debug: (message, fields) => log.debug(message, fields),
    });
    this.#connections.add(connection);
    this.#rest?.();
    if (greeted !== undefined) {
      connection.initialize(greeted);
      this.#parts.count("initialize", "ok");
      this.#parts.greeted(connection);
    }
    // A client that slips in while we leave is told so, and let go.
    if (this.#closing !== undefined) supervisor.take("closing a late connection", connection.close());
    return connection;
  }

  /**
   * Takes over from a host that ended without saying so: its threads, and what they wait for. Not for one that is here
   * for a single turn: what it took over would end with it. Nothing waits for this, and whoever waits comes first.
   */
  takeOver(): void {
    const { supervisor, registry, platform } = this.#parts;
    platform.timers.soon(() => {
      if (this.#closing !== undefined) return;
      supervisor.take("closing lost threads", registry.recover());
      platform.timers.soon(() => {
        if (this.#closing === undefined) this.#parts.listen();
      });
    });
  }

  /** A few numbers for people. */
  status(): readonly (readonly [string, string])[] {
    const { threads, turns } = this.counts();
    return [
      ["Clients connected", String(this.#connections.size)],
      ["Threads loaded", String(threads)],
      ["Turns running", String(turns)],
    ];
  }

  /** How many threads are loaded, and how many turns run in them. */
  counts(): { readonly threads: number; readonly turns: number } {
    const { registry } = this.#parts;
    const turns = [...registry.loaded()].filter((actor) => actor.activeTurn !== undefined).length;
    return { threads: registry.size, turns };
  }

  /**
   * The end: no new requests, every thread is closed and a running turn ends `interrupted`, every reply and notification is written, every
   * wire is closed. Idempotent. Each wire's flush is bounded, what is under way is not: whoever can not wait for ever asks
   * for what is `pending`, and goes.
   */
  close(): Promise<ShutdownCounts> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** When everyone has left and nothing runs, what a crowd made us take is given back. */
  #restSoon(): void {
    const { platform, registry } = this.#parts;
    this.#rest?.();
    if (this.#connections.size > 0 || this.#closing !== undefined) return;
    this.#rest = platform.timers.after(REST_MS, () => {
      if ([...registry.loaded()].every((actor) => actor.activeTurn === undefined)) platform.giveBackMemory();
    });
  }

  /** What the end waits for, in words. */
  pending(): readonly string[] {
    return this.#step === undefined ? [] : [this.#step, ...this.#parts.supervisor.pending()];
  }

  async #close(): Promise<ShutdownCounts> {
    this.#rest?.();
    const { registry, supervisor, log } = this.#parts;
    const leaving = [...this.#connections];
    for (const connection of leaving) connection.leave();
    this.#step = "saying so to other hosts";
    await this.#parts.leave();
    this.#step = "ending clients' processes";
    await this.#parts.endClientProcesses();
    // A turn that was asked for and has not begun would begin after its thread was closed.
    this.#step = "answering requests";
    await Promise.all(leaving.map((connection) => connection.answered()));
    this.#step = "leaving tool servers";
    await this.#parts.stopListening();
    this.#step = "closing threads";
    const counts = await registry.unloadAll("shutdown");
    this.#step = "writing to clients";
    await Promise.all(leaving.map((connection) => connection.close()));
    this.#step = "what is under way";
    await supervisor.settled();
    this.#step = "closing files";
    await this.#parts.close();
    this.#step = undefined;
    await log.flushed();
    return counts;
  }
}

/** Tells every connection that may see the thread and does not follow it: those who do were told by it. */
export function broadcastTo(
  connections: Iterable<Connection>,
  thread: ThreadName,
  method: NotificationName,
  frame: Frame,
): void {
  for (const connection of connections) {
    if (thread.subscriptions?.has(connection)) continue;
    if (!maySee(connection.meta.principal, thread.owner)) continue;
    connection.notice(thread.id, method, frame);
  }
}
