import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import type { Frame, Link, LinkEvents } from "@bobbin/rpc";
import { redactor } from "./feedback/redact-secrets.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Slices } from "./platform/event-loop-slices.ts";
import type { Cancel, Platform } from "./platform/platform.ts";
import { maySee } from "./server/authorize.ts";
import { type Client, Connection } from "./server/connection.ts";
import { type DispatchPorts, dispatch } from "./server/dispatch.ts";
import type { Answer } from "./server/incoming-frames.ts";
import type { LinkMeta } from "./server/listen/listener.ts";
import type { ClientAnswerRouting } from "./thread/client-answer-routing.ts";
import type { Idle } from "./thread/idle-unload.ts";
import type { Registry } from "./thread/registry.ts";
import type { ThreadName } from "./thread/stored-threads.ts";
import type { ShutdownCounts } from "./thread/thread-unloader.ts";

export interface HostParts extends DispatchPorts {
  readonly platform: Platform;
  /** Keeps clients with many requests from delaying others. */
  readonly requests: Slices<Connection>;
  readonly registry: Registry;
  readonly idle: Idle;
  readonly questions: ClientAnswerRouting;
  readonly supervisor: Supervisor;
  readonly unloadDelayMs: number | undefined;
  /** Starts receiving input that does not come from clients (callbacks of tool servers), also for adopted threads. */
  listen(): void;
  /** Called when a connection's `initialize` was answered. */
  afterInitialize(connection: Connection): void;
  /**
   * Handles a client's answer to a request that belongs to no thread. Returns false if the ID is not that of such a
   * request.
   */
  answered(connection: Connection, id: string | number, answer: Answer): boolean;
  /** Called when a connection has closed. */
  left(connection: Connection): void;
  /** Ends the processes, file operations and searches that clients have started outside of threads. */
  endClientWork(): Promise<void>;
  /** Announces to other hosts of the home that this host is about to end. */
  leave(): Promise<void>;
  /** Stops receiving input that does not come from clients. */
  stopListening(): Promise<void>;
  /** Closes processes, sandbox, tool sources and stores, after connections and threads were closed. */
  close(): Promise<void>;
}

/** Time without any connection after which memory is given back to the operating system. */
const REST_MS = 5000;

/** Limit on the characters of a client's name in the log. */
const MAX_NAME = 80;
/** Limit on the part of a name in which secrets are looked for. */
const MAX_SEARCHED = 1000;
const redact = redactor([]);

/** A client's name for the log. Clients choose their names, so keys and control characters are replaced. */
function loggedName(name: string): string {
  return redact(name.slice(0, MAX_SEARCHED))
    .slice(0, MAX_NAME)
    .replace(/[^\x20-\x7e]/g, "?");
}

/** The one host of the process. It holds all connections and all loaded threads. Listeners pass their links to `accept`. */
export class Host {
  readonly #parts: HostParts;
  readonly #connections: Set<Connection>;
  #closing: Promise<ShutdownCounts> | undefined;
  /** The current step of the shutdown, for the log. */
  #step: string | undefined;
  /** Cancels the timer that gives back memory. Set while no client is connected. */
  #rest: Cancel | undefined;

  constructor(parts: HostParts, connections: Set<Connection>) {
    this.#parts = parts;
    this.#connections = connections;
  }

  /** Adds a connection. `initialized` is set if this host's stand-in has already answered the client's `initialize`. */
  accept(link: Link, meta: LinkMeta, initialized?: Client): LinkEvents {
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
      // Answers are not queued: they cause little work, and the client may disconnect while they wait.
      answer: (one, id, answer) =>
        this.#parts.answered(one, id, answer) || this.#parts.questions.answer(one, id, answer),
      closed: (one) => {
        this.#connections.delete(one);
        idle.left(one, one.unloadDelayMs);
        this.#parts.left(one);
        this.#restSoon();
      },
      initialized: ({ meta }, { info }) => {
        log.info("client connected", {
          name: loggedName(info.name),
          transport: meta.transport,
          as: meta.principal.kind,
        });
      },
      debug: (message, fields) => log.debug(message, fields),
    });
    this.#connections.add(connection);
    this.#rest?.();
    if (initialized !== undefined) {
      connection.initialize(initialized);
      this.#parts.count("initialize", "ok");
      this.#parts.afterInitialize(connection);
    }
    // A client that connects during the shutdown is closed at once.
    if (this.#closing !== undefined) supervisor.take("closing a late connection", connection.close());
    return connection;
  }

  /**
   * Recovers the threads that earlier hosts did not close: adopts those that can continue, and closes the others.
   * Then starts listening to tool servers. A host that runs only one turn does not call this method, because the
   * adopted threads would end with the host. Runs in the background, after the requests that are already waiting.
   */
  takeOver(): void {
    const { supervisor, registry, platform } = this.#parts;
    const begun = new Promise<boolean>((resolve) => {
      platform.timers.soon(() => {
        resolve(this.#closing === undefined);
        platform.timers.soon(() => {
          if (this.#closing === undefined) this.#parts.listen();
        });
      });
    });
    supervisor.take("closing lost threads", registry.recover(begun));
  }

  /** A few numbers for the landing page. */
  status(): readonly (readonly [string, string])[] {
    const { threads, turns } = this.counts();
    return [
      ["Clients connected", String(this.#connections.size)],
      ["Threads loaded", String(threads)],
      ["Turns running", String(turns)],
    ];
  }

  /** The numbers of loaded threads and of running turns. */
  counts(): { readonly threads: number; readonly turns: number } {
    const { registry } = this.#parts;
    const turns = [...registry.loaded()].filter((actor) => actor.activeTurn !== undefined).length;
    return { threads: registry.size, turns };
  }

  /**
   * Shuts down: refuses new requests, closes or parks every thread (a running turn ends as `interrupted`), writes all
   * replies and notifications, and closes every link. Idempotent. Only the flush of each link has a time limit. A caller
   * that cannot wait longer logs `pending()` and exits.
   */
  close(): Promise<ShutdownCounts> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Gives memory back to the operating system when no client is connected and no turn runs. */
  #restSoon(): void {
    const { platform, registry } = this.#parts;
    this.#rest?.();
    if (this.#connections.size > 0 || this.#closing !== undefined) return;
    this.#rest = platform.timers.after(REST_MS, () => {
      if ([...registry.loaded()].every((actor) => actor.activeTurn === undefined)) platform.giveBackMemory();
    });
  }

  /** The work that the shutdown waits for, described for the log. */
  pending(): readonly string[] {
    return this.#step === undefined ? [] : [this.#step, ...this.#parts.supervisor.pending()];
  }

  async #close(): Promise<ShutdownCounts> {
    this.#rest?.();
    const { registry, supervisor } = this.#parts;
    const leaving = [...this.#connections];
    for (const connection of leaving) connection.leave();
    this.#step = "saying so to other hosts";
    await this.#parts.leave();
    this.#step = "ending what clients have started";
    await this.#parts.endClientWork();
    // Requests are answered before threads are closed; a queued `turn/start` would otherwise start after that.
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
    return counts;
  }
}

/** Sends a notification to every connection that may see the owner's threads: the owner's and the host user's. */
export function notifyOwner<N extends NotificationName>(
  connections: Iterable<Connection>,
  owner: string,
  method: N,
  params: NotificationParams<N>,
): void {
  for (const connection of connections)
    if (connection.client !== undefined && maySee(connection.meta.principal, owner))
      connection.notify(method, params);
}

/**
 * Notifies every connection that may see the thread and is not subscribed to it. The thread itself notifies
 * subscribers.
 */
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
