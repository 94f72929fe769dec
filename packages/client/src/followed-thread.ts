import type { RequestId, Result, ServerRequestResult, ThreadRequestName, UserInput } from "@bobbin/protocol";
import type { Bobbin } from "./bobbin.ts";
import { EventQueue } from "./connection/event-queue.ts";
import { inputOf, type Notification, type TurnOptions } from "./run-turn.ts";
import { RunningTurn, type TurnResult, turnResult } from "./running-turn.ts";
import { reduceThread } from "./state/reduce-thread.ts";
import { removeRepeatedText } from "./state/remove-repeated-text.ts";
import { emptyThread, runningTurn, type ThreadEvent, type ThreadState } from "./state/thread-state.ts";
import { ThreadGoalHandle } from "./thread-goal-handle.ts";
import { ThreadQueueHandle } from "./thread-queue-handle.ts";

type LoadReply = Result<"thread/start"> | Result<"thread/resume">;

/** How the turns of a thread are loaded. */
export interface FollowOptions {
  /** Loads only this many of the last turns; `loadOlder` loads more. By default all turns are loaded. */
  readonly recentTurns?: number | undefined;
}

/**
 * A thread that this client follows. When the connection is lost, the client follows the thread again on the next
 * connection and receives exactly the notifications that it missed.
 *
 * @example
 * const thread = await bobbin.startThread({ cwd: "/home/me/project" });
 * const { text } = await thread.run("What does this project do?");
 */
export class FollowedThread implements AsyncIterable<Notification> {
  /** The id of the thread. */
  readonly id: string;
  /** Input that waits for the running turn to end. */
  readonly queue: ThreadQueueHandle;
  /** The goal that the thread works towards. */
  readonly goal: ThreadGoalHandle;
  readonly #bobbin: Bobbin;
  readonly #options: FollowOptions;
  readonly #listeners = new Set<() => void>();
  readonly #notificationListeners = new Set<(notification: Notification) => void>();
  readonly #readers = new Set<EventQueue<Notification>>();
  #state: ThreadState;
  #olderCursor: string | null = null;
  #reading = false;
  #ended: { readonly error: unknown } | undefined;

  /** Use `startThread`, `resumeThread` or `forkThread` of `Bobbin`. */
  constructor(bobbin: Bobbin, id: string, options: FollowOptions = {}) {
    this.#bobbin = bobbin;
    this.id = id;
    this.#options = options;
    this.#state = emptyThread(id);
    this.queue = new ThreadQueueHandle(bobbin, this);
    this.goal = new ThreadGoalHandle(bobbin, id);
  }

  /**
   * Everything that is known of the thread. Immutable: each change creates a new object.
   *
   * @example
   * console.log(thread.state.name, thread.state.status.type);
   */
  get state(): ThreadState {
    return this.#state;
  }

  /**
   * Calls `listener` after each change of `state`. The returned function stops that.
   *
   * @example
   * const stop = thread.subscribe(() => render(thread.state));
   */
  subscribe(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /**
   * Calls `listener` for each notification of the thread, as soon as `state` includes it. After a reconnect no text is
   * repeated: the listener gets the same notifications as `for await`. The returned function removes the listener.
   *
   * @example
   * const stop = thread.onNotification(({ method, params }) => {
   *   if (method === "item/agentMessage/delta") process.stdout.write(params.delta);
   * });
   */
  onNotification(listener: (notification: Notification) => void): () => void {
    const entry = (notification: Notification) => listener(notification);
    this.#notificationListeners.add(entry);
    return () => void this.#notificationListeners.delete(entry);
  }

  /**
   * Set when this client does not follow the thread any more. `error`: why the host refused to resume the thread after
   * a lost connection, for example because it was archived meanwhile; undefined if the client left the thread.
   *
   * @example
   * thread.subscribe(() => thread.ended && show(`not followed: ${thread.ended.error ?? "you left"}`));
   */
  get ended(): { readonly error: unknown } | undefined {
    return this.#ended;
  }

  /**
   * Runs a turn to its end. Resolves however the turn ends: look at `status`. If `signal` aborts, the turn is interrupted.
   *
   * @example
   * const { status, text } = await thread.run("Summarize the README", { signal });
   */
  async run(input: string | readonly UserInput[], options: TurnOptions = {}): Promise<TurnResult> {
    return await (await this.#start(input, options, false)).result();
  }

  /**
   * Starts a turn. Resolves when the host has accepted it.
   *
   * @example
   * const turn = await thread.startTurn("Write a haiku");
   * for await (const { method, params } of turn) {
   *   if (method === "item/agentMessage/delta") process.stdout.write(params.delta);
   * }
   */
  startTurn(input: string | readonly UserInput[], options: TurnOptions = {}): Promise<RunningTurn> {
    return this.#start(input, options, true);
  }

  /**
   * The turn that runs now, if one does: also one that another client started.
   *
   * @example
   * await thread.runningTurn()?.interrupt();
   */
  runningTurn(): RunningTurn | undefined {
    const turn = runningTurn(this.#state);
    return turn && new RunningTurn(this.#bobbin, this, turn.id, this.#read());
  }

  /**
   * The thread's notifications from now on, until the client leaves the thread. Buffered until they are read.
   *
   * @example
   * for await (const { method } of thread) console.log(method);
   */
  [Symbol.asyncIterator](): AsyncIterator<Notification> {
    return this.#read();
  }

  /**
   * Answers a question of `state.requests`. Only the first answer of any client counts.
   *
   * @example
   * const [request] = thread.state.requests;
   * if (request?.method === "item/fileChange/requestApproval") thread.answer(request.method, request.id, { decision: "accept" });
   */
  answer<N extends ThreadRequestName>(_method: N, id: RequestId, result: ServerRequestResult<N>): boolean {
    return this.#bobbin.settle(id, result);
  }

  /**
   * Loads turns from before those in `state`. Returns false if there are none.
   *
   * @example
   * const thread = await bobbin.resumeThread(id, {}, { recentTurns: 20 });
   * while (await thread.loadOlder()) render(thread.state);
   */
  async loadOlder(limit = 50): Promise<boolean> {
    if (this.#olderCursor === null) return false;
    const { data, nextCursor } = await this.#bobbin.request("thread/turns/list", {
      threadId: this.id,
      cursor: this.#olderCursor,
      limit,
      sortDirection: "desc",
      itemsView: "full",
    });
    this.#olderCursor = nextCursor;
    this.#reduce({ type: "olderTurns", turns: data.toReversed() });
    return data.length > 0;
  }

  /**
   * Sets the thread's name.
   *
   * @example
   * await thread.rename("Release notes");
   */
  async rename(name: string): Promise<void> {
    await this.#bobbin.request("thread/name/set", { threadId: this.id, name });
  }

  /**
   * Stops following the thread. Running turns continue.
   *
   * @example
   * await thread.leave();
   */
  async leave(): Promise<void> {
    if (this.#ended !== undefined) return;
    this.end();
    this.#bobbin.forget(this);
    await this.#bobbin.request("thread/unsubscribe", { threadId: this.id });
  }

  /** Whether the host has unloaded the thread. The next turn loads it again. */
  get isUnloaded(): boolean {
    return this.#state.thread !== null && this.#state.status.type === "notLoaded";
  }

  /**
   * Params of the `thread/resume` that follows the thread on a new connection. Called by `Bobbin`.
   *
   * @internal
   */
  resumeParams(): { threadId: string; afterCursor?: string; excludeTurns?: boolean } {
    const { cursor } = this.#state;
    if (cursor !== null) return { threadId: this.id, afterCursor: cursor, excludeTurns: true };
    return { threadId: this.id, ...this.#wholeParams() };
  }

  /**
   * Applies the reply to a start, fork or resume. Returns whether notifications were missed. Called by `Bobbin`.
   *
   * @internal
   */
  loaded(result: LoadReply, again = false): boolean {
    const before = this.#state;
    const page = "initialTurnsPage" in result ? result.initialTurnsPage : undefined;
    if (page != null) this.#olderCursor = page.nextCursor;
    this.#reduce({ type: "loaded", result, again });
    const isReplayed = "replay" in result && result.replay?.gap === false;
    if (isReplayed || again || before.thread === null) return false;
    const hasGap = "replay" in result && result.replay?.gap === true;
    return hasGap || outlineOf(before) !== outlineOf(this.#state);
  }

  /**
   * Applies a notification or a server request. Called by `Bobbin`.
   *
   * @internal
   */
  hear(event: ThreadEvent): void {
    const before = this.#state;
    this.#reduce(event);
    if ("type" in event || "id" in event) return;
    if (this.#readers.size === 0 && this.#notificationListeners.size === 0) return;
    for (const shown of removeRepeatedText(before, event)) {
      for (const listener of [...this.#notificationListeners]) listener(shown);
      for (const reader of [...this.#readers]) reader.push(shown);
    }
  }

  /**
   * Ends all readers of notifications, with an error if the thread cannot be followed any more. Idempotent.
   *
   * @internal
   */
  end(error?: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { error };
    for (const reader of [...this.#readers]) reader.end(error);
    for (const listener of [...this.#listeners]) listener();
  }

  /**
   * Resolves with the result of a turn when the turn has ended.
   *
   * @internal
   */
  turnEnd(turnId: string): Promise<TurnResult> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const result = turnResult(this.#state, turnId);
        if (result !== undefined) resolve(result);
        else if (this.#ended !== undefined)
          reject(
            this.#ended.error ??
              new Error("the turn's end was not seen: the thread is not followed any more"),
          );
        else return;
        stop();
      };
      const stop = this.subscribe(look);
      look();
    });
  }

  async #start(
    input: string | readonly UserInput[],
    { signal, ...settings }: TurnOptions,
    isRead: boolean,
  ): Promise<RunningTurn> {
    signal?.throwIfAborted();
    // The reader is created before the request: after a reconnect, `turn/started` may arrive before the reply.
    const events = this.#read();
    const params = { ...settings, threadId: this.id, input: inputOf(input) };
    try {
      if (this.isUnloaded) await this.#bobbin.reload(this);
      const { turn } = await this.#bobbin.request("turn/start", params);
      if (!isRead) await events.return();
      const running = new RunningTurn(this.#bobbin, this, turn.id, events);
      running.interruptWhen(signal);
      return running;
    } catch (cause) {
      await events.return();
      throw cause;
    }
  }

  #read(): EventQueue<Notification> {
    const reader = new EventQueue<Notification>(() => this.#readers.delete(reader));
    if (this.#ended === undefined) this.#readers.add(reader);
    else reader.end(this.#ended.error);
    return reader;
  }

  #reduce(event: ThreadEvent): void {
    const next = reduceThread(this.#state, event);
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of [...this.#listeners]) listener();
    if (next.stale.turns || next.stale.queue) void this.#readStale();
  }

  /** Reads the stale parts of the state from the host. If the connection is lost, the next load reads them. */
  async #readStale(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#ended === undefined && (this.#state.stale.turns || this.#state.stale.queue)) {
        const client = await this.#bobbin.connected();
        if (this.#state.stale.turns) {
          await client.request(
            "thread/resume",
            { threadId: this.id, ...this.#wholeParams() },
            { received: (result) => void this.loaded(result as LoadReply, true) },
          );
        } else {
          const { data } = await client.request("thread/queue/list", { threadId: this.id });
          this.#reduce({ type: "queue", submissions: data });
        }
      }
    } catch {
      // The connection was lost, or the thread was deleted or unloaded. The next load reads the stale parts.
    } finally {
      this.#reading = false;
    }
  }

  #wholeParams(): object {
    const { recentTurns } = this.#options;
    if (recentTurns === undefined) return {};
    const initialTurnsPage = { limit: recentTurns, sortDirection: "desc", itemsView: "full" };
    return { excludeTurns: true, initialTurnsPage };
  }
}

/** Whether a notification belongs to a turn; one that concerns the whole thread belongs to each. */
/** A text that differs between two states if a durable notification about a turn was missed in between. */
function outlineOf({ turns }: ThreadState): string {
  const last = turns.at(-1);
  return `${turns.length} ${last?.id} ${last?.status} ${last?.items.length}`;
}
