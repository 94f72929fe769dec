import type { Notice } from "@bobbin/rap/runtime";
import type { Log } from "../../observe/log.ts";
import { FewAtOnce } from "../../platform/few-at-once.ts";
import type { Clock, Timers } from "../../platform/platform.ts";
import type { ToolServerSettings } from "./settings.ts";

export interface NoticePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Once, within NOTICE_MS; does not throw. */
  send(
    server: ToolServerSettings,
    notice: Notice,
    signal: AbortSignal,
  ): Promise<{ readonly delivered: boolean; readonly says: string }>;
  count(kind: Notice["kind"], server: string, delivered: boolean): void;
}

/** How long a server may take to answer what it need not answer. */
export const NOTICE_MS = 3000;

/** To one server at once; a crowd of threads that closes must not become a crowd of connections. */
const MAX_AT_ONCE = 32;

/**
 * What tool servers are told, and need not answer. Nobody waits for it, but for who calls a server that was told that
 * the thread is closed: a closing that is late must not end what the next load begins.
 */
export class Notices {
  readonly #ports: NoticePorts;
  /** The ways to servers, by their addresses. */
  readonly #ways = new Map<string, FewAtOnce>();
  /** Closings under way, by thread and server. */
  readonly #closings = new Map<string, Map<string, Promise<void>>>();
  /** Threads whose closing this host has told, with the time: of these it is known what is under way. */
  readonly #told = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #over = new AbortController();

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  cancelled(threadId: string, callId: string, servers: readonly ToolServerSettings[]): void {
    const body = { thread_id: threadId, tool_call_id: callId };
    for (const server of servers) void this.#send(server, { kind: "cancelToolCall", body });
  }

  closed(threadId: string, servers: readonly ToolServerSettings[]): void {
    this.#remember(threadId);
    const under = this.#closings.get(threadId) ?? new Map<string, Promise<void>>();
    this.#closings.set(threadId, under);
    for (const server of servers) {
      const sent = this.#send(server, { kind: "closeThread", body: { thread_id: threadId } });
      const both = Promise.all([under.get(server.url), sent]).then(() => {
        if (under.get(server.url) === both) under.delete(server.url);
        if (under.size === 0 && this.#closings.get(threadId) === under) this.#closings.delete(threadId);
      });
      under.set(server.url, both);
    }
  }

  /**
   * Resolves when a server has answered all that it was told of the thread's closing, or had its time. `toldAt`: when it
   * was last told, by whichever host.
   */
  async settled(
    threadId: string,
    { url }: ToolServerSettings,
    toldAt: number | null,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#closings.get(threadId)?.get(url);
    if (toldAt === null || this.#told.has(threadId)) return;
    // What another host has sent may still be on its way: nobody here hears of an answer.
    const left = Math.min(NOTICE_MS, toldAt + NOTICE_MS - this.#ports.clock.now());
    if (left > 0) await this.#pause(left, signal);
  }

  /** What is under way has so long; then it is cut. */
  async close(graceMs: number): Promise<void> {
    const cancel = this.#ports.timers.after(graceMs, () => this.#over.abort(new Error("the host is ending")));
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    cancel();
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#ports.timers.after(ms, resolve);
      signal.addEventListener("abort", () => resolve(cancel()), { once: true });
      if (signal.aborted) resolve(cancel());
    });
  }

  #remember(threadId: string): void {
    const now = this.#ports.clock.now();
    this.#told.delete(threadId);
    this.#told.set(threadId, now);
    for (const [id, at] of this.#told) {
      if (Math.abs(now - at) <= NOTICE_MS) break;
      this.#told.delete(id);
    }
  }

  #send(server: ToolServerSettings, notice: Notice): Promise<void> {
    const sent = this.#way(server.url)
      .run(() => this.#tell(server, notice))
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
    return sent;
  }

  async #tell(server: ToolServerSettings, notice: Notice): Promise<void> {
    const { delivered, says } = await this.#ports.send(server, notice, this.#over.signal);
    this.#ports.count(notice.kind, server.name, delivered);
    const about = { server: server.name, notice: notice.kind, ...notice.body };
    if (delivered) this.#ports.log.debug("a tool server was told", about);
    else this.#ports.log.info("a tool server could not be told", { ...about, says });
  }

  #way(url: string): FewAtOnce {
    const way = this.#ways.get(url) ?? new FewAtOnce(MAX_AT_ONCE);
    this.#ways.set(url, way);
    return way;
  }
}
