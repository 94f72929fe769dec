import type { Notice } from "@bobbin/rap/runtime";
import type { Log } from "../../observe/log.ts";
import { FewAtOnce } from "../../platform/concurrency-limit.ts";
import { deadlineMs } from "../../platform/deadlines.ts";
import type { Clock, Timers } from "../../platform/platform.ts";
import type { ToolServerSettings } from "./rap-settings.ts";

export interface NoticePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Sends a notice once, within NOTICE_MS. Never rejects. */
  send(
    server: ToolServerSettings,
    notice: Notice,
    signal: AbortSignal,
  ): Promise<{ readonly delivered: boolean; readonly says: string }>;
  count(kind: Notice["kind"], server: string, delivered: boolean): void;
}

/** Time limit for a tool server to acknowledge a notice. */
export const NOTICE_MS = deadlineMs(3000);

/**
 * Limit on the notices in progress per server, so that many threads that close together do not open as many
 * connections.
 */
const MAX_AT_ONCE = 32;

/**
 * Sends notices (a thread is closed, a call is cancelled) to tool servers: one attempt, for which no caller waits.
 * The exception: a call to a server that was sent the close of the same thread waits for that notice. Otherwise a
 * late notice could end what the thread's next load starts.
 */
export class NoticeSender {
  readonly #ports: NoticePorts;
  /** Send queues, by server URL. */
  readonly #queues = new Map<string, FewAtOnce>();
  /** Close notices in progress, by thread and server URL. */
  readonly #closings = new Map<string, Map<string, Promise<void>>>();
  /** When this host sent the notice of a thread's close, by thread. For these threads `#closings` is complete. */
  readonly #closedAt = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  cancelled(threadId: string, callId: string, servers: readonly ToolServerSettings[]): void {
    const body = { thread_id: threadId, tool_call_id: callId };
    for (const server of servers) void this.#send(server, { kind: "cancelToolCall", body });
  }

  closed(threadId: string, servers: readonly ToolServerSettings[]): void {
    this.#remember(threadId);
    const closings = this.#closings.get(threadId) ?? new Map<string, Promise<void>>();
    this.#closings.set(threadId, closings);
    for (const server of servers) {
      const sent = this.#send(server, { kind: "closeThread", body: { thread_id: threadId } });
      const settled = Promise.all([closings.get(server.url), sent]).then(() => {
        if (closings.get(server.url) === settled) closings.delete(server.url);
        if (closings.size === 0 && this.#closings.get(threadId) === closings) this.#closings.delete(threadId);
      });
      closings.set(server.url, settled);
    }
  }

  /**
   * Resolves when a server has acknowledged all close notices of the thread, or their time limit has passed.
   * `closeSentAt`: when the last close notice was sent, by this host or another.
   */
  async settled(
    threadId: string,
    { url }: ToolServerSettings,
    closeSentAt: number | null,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#closings.get(threadId)?.get(url);
    if (closeSentAt === null || this.#closedAt.has(threadId)) return;
    // Another host sent the notice, so its acknowledgement is unknown here. Waits for the time limit.
    const left = Math.min(NOTICE_MS, closeSentAt + NOTICE_MS - this.#ports.clock.now());
    if (left > 0) await this.#pause(left, signal);
  }

  /** Waits up to `graceMs` for notices in progress, then aborts them. */
  async close(graceMs: number): Promise<void> {
    const cancel = this.#ports.timers.after(graceMs, () =>
      this.#ending.abort(new Error("the host is ending")),
    );
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
    this.#closedAt.delete(threadId);
    this.#closedAt.set(threadId, now);
    for (const [id, at] of this.#closedAt) {
      if (Math.abs(now - at) <= NOTICE_MS) break;
      this.#closedAt.delete(id);
    }
  }

  #send(server: ToolServerSettings, notice: Notice): Promise<void> {
    const sent = this.#queue(server.url)
      .run(() => this.#deliver(server, notice))
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
    return sent;
  }

  async #deliver(server: ToolServerSettings, notice: Notice): Promise<void> {
    const { delivered, says } = await this.#ports.send(server, notice, this.#ending.signal);
    this.#ports.count(notice.kind, server.name, delivered);
    const about = { server: server.name, notice: notice.kind, ...notice.body };
    if (delivered) this.#ports.log.debug("sent a notice to a tool server", about);
    else this.#ports.log.info("a notice could not be delivered to a tool server", { ...about, says });
  }

  #queue(url: string): FewAtOnce {
    const queue = this.#queues.get(url) ?? new FewAtOnce(MAX_AT_ONCE);
    this.#queues.set(url, queue);
    return queue;
  }
}
