import type { ThreadItem } from "@bobbin/protocol";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Platform } from "../platform/platform.ts";
import type { ProcessManager } from "../process/process-manager.ts";

export interface NotifyTarget {
  readonly command: readonly string[] | null;
  readonly url: string | null;
  readonly events: readonly ("turn" | "approval")[];
  readonly isPlain: boolean;
}

export interface NotifierPorts {
  readonly platform: Pick<Platform, "timers" | "http">;
  readonly processes: Pick<ProcessManager, "start">;
  readonly log: Log;
  /** Working folder of the program. */
  readonly cwd: string;
  /** The host's current `notify` setting. Projects cannot change it. */
  target(): NotifyTarget | null;
  /** The program's environment, without secrets. */
  environment(): Readonly<Record<string, string>>;
  /** Whether the host notifies of events of this thread. */
  isWatched(thread: ThreadState): boolean;
  /** Reads the records of a thread's history. */
  past(threadId: string): Promise<readonly ThreadRecord[]>;
}

/** Limit on concurrent notifications. Further ones are dropped. */
const MOST_AT_ONCE = 8;
/** Time limit of the program. It may wait for a person's click. */
const PROGRAM_MS = 60_000;
const POST_MS = 10_000;
/** How long the host's shutdown waits for running notifications. */
const GRACE_MS = 2000;

type TurnEnded = Extract<ThreadRecord, { type: "turnEnded" }>;

/**
 * Runs a program, or posts to a URL, when a turn ends and when a question waits for a person. Best effort: there is
 * one attempt, and nothing waits for it.
 */
export class UserNotifier {
  readonly #ports: NotifierPorts;
  readonly #owner = {};
  readonly #running = new Set<Promise<void>>();
  readonly #over = new AbortController();
  #isClosing = false;

  constructor(ports: NotifierPorts) {
    this.#ports = ports;
  }

  committed({ records }: Commit, state: ThreadState): void {
    const target = this.#ports.target();
    if (target === null) return;
    for (const record of records) {
      if (record.type === "turnEnded" && target.events.includes("turn"))
        this.#turnEnded(target, record, state);
      // No notification for calls of dynamic tools, because clients answer them, not people.
      else if (
        record.type === "requestSent" &&
        record.request.method !== "item/tool/call" &&
        target.events.includes("approval")
      )
        this.#take(target, state, async () => questionEvent(record.request, state));
    }
  }

  /** Stops accepting notifications, and waits for the running ones for at most GRACE_MS. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const cancel = this.#ports.platform.timers.after(GRACE_MS, () => this.#over.abort());
    while (this.#running.size > 0) await Promise.all(this.#running);
    cancel();
  }

  #turnEnded(target: NotifyTarget, record: TurnEnded, state: ThreadState): void {
    // No notification for an interrupted turn, because the person who interrupted it knows, and none for a helper's
    // turn, which is part of another turn.
    if (record.status === "interrupted" || state.facts.parentThreadId !== null) return;
    if (target.isPlain && record.status !== "completed") return;
    this.#take(target, state, async () => {
      const past = await this.#ports.past(state.facts.id);
      return { ...turnEvent(record, state, past), ...(!target.isPlain && { status: record.status }) };
    });
  }

  #take(target: NotifyTarget, state: ThreadState, event: () => Promise<object>): void {
    if (this.#isClosing || !this.#ports.isWatched(state)) return;
    if (this.#running.size >= MOST_AT_ONCE) {
      this.#ports.log.warn(`A notification was dropped: ${MOST_AT_ONCE} others are still running.`);
      return;
    }
    const sent = this.#send(target, event)
      .catch((cause: unknown) => this.#ports.log.warn(`A notification was not sent: ${messageOf(cause)}`))
      .finally(() => this.#running.delete(sent));
    this.#running.add(sent);
  }

  async #send({ command, url }: NotifyTarget, event: () => Promise<object>): Promise<void> {
    const text = JSON.stringify(await event());
    const both = [
      ...(command === null ? [] : [this.#run([...command, text])]),
      ...(url === null ? [] : [this.#post(url, text)]),
    ];
    const failed = (await Promise.allSettled(both)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  async #run(argv: readonly string[]): Promise<void> {
    const { processes, environment } = this.#ports;
    const program = {
      argv: argv as readonly [string, ...string[]],
      cwd: this.#ports.cwd,
      env: environment(),
      stdin: "closed",
    } as const;
    const process = await processes.start(this.#owner, program, () => {});
    await this.#within(PROGRAM_MS, () => process.kill(), process.ended);
  }

  async #post(url: string, body: string): Promise<void> {
    const late = new AbortController();
    const headers = { "content-type": "application/json" };
    const request = {
      method: "POST",
      headers,
      body,
      signal: late.signal,
      redirect: "manual",
      single: true,
    } as const;
    const posted = this.#ports.platform.http(new URL(url), request);
    const { status } = await this.#within(POST_MS, () => late.abort(new Error("it took too long")), posted);
    late.abort();
    if (status >= 300) throw new Error(`the address answered with ${status}`);
  }

  /** Calls `stop` when the work takes longer than `ms`, or when the host ends. */
  async #within<T>(ms: number, stop: () => void, work: Promise<T>): Promise<T> {
    const cancel = this.#ports.platform.timers.after(ms, stop);
    const { signal } = this.#over;
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await work;
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }
}

/** The event of an ended turn, in the format of the Codex CLI. */
function turnEvent(
  { turnId, answer }: TurnEnded,
  { facts, settings }: ThreadState,
  past: readonly ThreadRecord[],
): object {
  const messages = past.flatMap((one) =>
    one.type === "itemCompleted" && one.turnId === turnId && one.item.type === "userMessage"
      ? [wordsOf(one.item)]
      : [],
  );
  return {
    type: "agent-turn-complete",
    "thread-id": facts.id,
    "turn-id": turnId,
    cwd: settings.cwd,
    ...(facts.originator !== null && { client: facts.originator }),
    "input-messages": messages,
    "last-assistant-message": answer?.type === "agentMessage" ? answer.text : null,
  };
}

function wordsOf({ content }: Extract<ThreadItem, { type: "userMessage" }>): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The event of a question that waits for a person. */
function questionEvent({ method, params, turnId }: PendingRequest, { facts, settings }: ThreadState): object {
  const { command, reason } = params as { readonly command?: string | null; readonly reason?: string | null };
  return {
    type: "approval-requested",
    "thread-id": facts.id,
    "turn-id": turnId,
    cwd: settings.cwd,
    method,
    command: typeof command === "string" ? command : null,
    reason: typeof reason === "string" ? reason : null,
  };
}
