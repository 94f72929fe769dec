import type { ThreadItem, ThreadTokenUsage, TurnError, UserInput } from "@bobbin/protocol";
import type { Bobbin } from "./bobbin.ts";
import type { EventQueue } from "./connection/event-queue.ts";
import type { FollowedThread } from "./followed-thread.ts";
import { belongsTo, inputOf, type Notification } from "./run-turn.ts";
import { currentItem } from "./state/running-item.ts";
import type { ThreadState } from "./state/thread-state.ts";

/** How a turn ended. */
export interface TurnResult {
  /** The id of the turn. */
  readonly turnId: string;
  /** `failed` comes with `error`. */
  readonly status: "completed" | "interrupted" | "failed";
  /** The model's last message; empty if it wrote none. */
  readonly text: string;
  /** Everything that the turn has: messages, commands, changes of files, calls of tools. */
  readonly items: readonly ThreadItem[];
  /** Why the turn failed. */
  readonly error: TurnError | null;
  /** Token usage of the thread after the turn, if the model reported it. */
  readonly tokenUsage: ThreadTokenUsage | null;
}

/** The result of a turn that has ended; undefined if it runs or is not known. */
export function turnResult(state: ThreadState, turnId: string): TurnResult | undefined {
  const turn = state.turns.findLast(({ id }) => id === turnId);
  if (turn === undefined || turn.status === "inProgress") return undefined;
  // The end of the turn is being read, because this client missed notifications.
  if (state.stale.turns) return undefined;
  const items = turn.items.map((item) => currentItem(state, item));
  const answer = items.findLast((item) => item.type === "agentMessage");
  return {
    turnId,
    status: turn.status,
    text: answer?.type === "agentMessage" ? answer.text : "",
    items,
    error: turn.error,
    tokenUsage: state.tokenUsage,
  };
}

/**
 * A turn that was started: its notifications, its result, and the means to change its course.
 *
 * @example
 * const turn = await thread.startTurn("Count to a million");
 * setTimeout(() => turn.interrupt(), 5_000);
 * const { status } = await turn.result(); // "interrupted"
 */
export class RunningTurn implements AsyncIterable<Notification> {
  /** The id of the turn. */
  readonly id: string;
  readonly #bobbin: Bobbin;
  readonly #thread: FollowedThread;
  readonly #events: EventQueue<Notification>;

  /** Use `startTurn` or `runningTurn` of a thread. */
  constructor(bobbin: Bobbin, thread: FollowedThread, id: string, events: EventQueue<Notification>) {
    this.#bobbin = bobbin;
    this.#thread = thread;
    this.id = id;
    this.#events = events;
  }

  /**
   * The turn's notifications; the last one is `turn/completed`. For one reader. Leaving the loop does not stop the turn.
   * After a gap (`Bobbin.onGap`) the loop can end without `turn/completed`; `result` has the whole turn.
   *
   * @example
   * for await (const { method, params } of turn) {
   *   if (method === "item/completed") console.log(params.item.type);
   * }
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Notification, void, undefined> {
    // If `turn/completed` is missed, the thread's state shows the end of the turn.
    const end = this.result().then(
      () => this.#events.end(),
      (cause: unknown) => this.#events.end(cause),
    );
    try {
      for await (const notification of this.#events) {
        if (!belongsTo(this.id, notification)) continue;
        yield notification;
        if (notification.method === "turn/completed") return;
      }
    } finally {
      await this.#events.return();
      // The promise is settled, or its result is not needed any more.
      void end;
    }
  }

  /**
   * Resolves when the turn has ended, in whatever way.
   *
   * @example
   * const { status, text, error } = await turn.result();
   */
  result(): Promise<TurnResult> {
    return this.#thread.turnEnd(this.id);
  }

  /**
   * Gives the running turn more input. Rejects if the turn has ended.
   *
   * @example
   * await turn.steer("In German, please");
   */
  async steer(input: string | readonly UserInput[]): Promise<void> {
    await this.#bobbin.request("turn/steer", {
      threadId: this.#thread.id,
      expectedTurnId: this.id,
      input: inputOf(input),
    });
  }

  /**
   * Stops the turn. Its result then has the status `interrupted`. Does nothing if the turn has ended.
   *
   * @example
   * await turn.interrupt();
   */
  async interrupt(): Promise<void> {
    try {
      await this.#bobbin.request("turn/interrupt", { threadId: this.#thread.id, turnId: this.id });
    } catch (cause) {
      if (turnResult(this.#thread.state, this.id) === undefined) throw cause;
    }
  }

  /**
   * Interrupts the turn when the signal aborts.
   *
   * @internal
   */
  interruptWhen(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    // A failed interrupt is ignored: `result` settles when the turn ends, or when the client is closed.
    const interrupt = () => void this.interrupt().catch(() => {});
    if (signal.aborted) return interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    const over = () => signal.removeEventListener("abort", interrupt);
    this.result().then(over, over);
  }
}
