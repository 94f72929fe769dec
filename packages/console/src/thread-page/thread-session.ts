import {
  type Bobbin,
  emptyThread,
  type FollowedThread,
  type PendingRequest,
  RpcError,
  reduceThread,
  runningTurn,
  type ThreadEvent,
  type ThreadState,
} from "@bobbin/client";
import type { Params, ServerRequestResult, ThreadGoal, UserInput } from "@bobbin/protocol";
import { type Signal, signal } from "@preact/signals";
import { onNextFrame } from "../parts/next-frame.ts";
import type { SendHow } from "./composer.tsx";

const PAGE = 30;

/**
 * The thread that the page shows. A thread that is not loaded is only read, so that showing it does not load it. A
 * loaded thread is followed until the page shows another one.
 */
export class ThreadSession {
  readonly id: string;
  /** The state of the thread. It is updated at most once per frame, even if many notifications arrive. */
  readonly state: Signal<ThreadState>;
  readonly problem = signal<string | undefined>(undefined);
  /** A text for the message field. `Composer` takes it, and puts it into the field if the field is empty. */
  readonly draft = signal<string | undefined>(undefined);
  readonly hasOlder = signal(false);
  readonly isReading = signal(true);
  /** IDs of questions that were answered in this page and that the host has not confirmed yet. */
  readonly answered = signal<ReadonlySet<PendingRequest["id"]>>(new Set());
  readonly #bobbin: Bobbin;
  #thread: FollowedThread | undefined;
  #following: Promise<FollowedThread> | undefined;
  /** The cursor of older turns, for a thread that is only read. */
  #olderCursor: string | null = null;
  #read: ThreadState;
  #isClosed = false;
  /** Whether the host has unloaded the thread while it was followed. */
  #wasUnloaded = false;
  readonly #stop: (() => void)[] = [];

  constructor(bobbin: Bobbin, threadId: string) {
    this.id = threadId;
    this.#bobbin = bobbin;
    this.#read = emptyThread(threadId);
    this.state = signal(this.#read);
    this.#stop.push(
      bobbin.onNotification((notification) => {
        const { method, params } = notification;
        if (!("threadId" in params) || params.threadId !== threadId) return;
        // `FollowedThread` applies the notifications of a followed thread.
        if (this.#thread === undefined) this.#reduce(notification);
        if (method === "thread/status/changed" && params.status.type !== "notLoaded") this.#loadedByOthers();
      }),
    );
    void this.#attempt(() => this.#open());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#stop) stop();
    // An error is ignored: the thread may have been deleted, or the connection lost.
    this.#thread?.leave().catch(() => {});
  }

  /** Sends a message: as a new turn, as input to the running turn, or queued until the running turn has ended. */
  async send(input: UserInput[], how: SendHow): Promise<void> {
    const thread = await this.follow();
    const turn = runningTurn(thread.state);
    if (how === "queue") await thread.queue.add(input);
    else if (how === "steer" && turn !== undefined) {
      const params = { threadId: this.id, expectedTurnId: turn.id, input };
      await this.#bobbin.request("turn/steer", params);
    } else {
      if (thread.isUnloaded) await this.#load(thread);
      await this.#bobbin.request("turn/start", { threadId: this.id, input });
    }
  }

  /** Loads the thread, and follows it. */
  async load(): Promise<void> {
    const thread = await this.follow();
    if (thread.isUnloaded) await this.#load(thread);
  }

  /** Sets or changes the goal. To become active, a goal needs a loaded thread, so the thread is loaded first. */
  async setGoal(change: Omit<Params<"thread/goal/set">, "threadId">): Promise<void> {
    if (change.status === "active") await this.load();
    const { goal } = await this.#bobbin.request("thread/goal/set", { ...change, threadId: this.id });
    this.#readGoal(goal);
  }

  async clearGoal(): Promise<void> {
    await this.#bobbin.request("thread/goal/clear", { threadId: this.id });
    this.#readGoal(null);
  }

  async interrupt(): Promise<void> {
    const turn = runningTurn(this.state.value);
    if (turn !== undefined)
      await this.#bobbin.request("turn/interrupt", { threadId: this.id, turnId: turn.id });
  }

  answer(request: PendingRequest, result: unknown): void {
    this.answered.value = new Set([...this.answered.value, request.id]);
    this.#thread?.answer(request.method, request.id, result as ServerRequestResult<typeof request.method>);
  }

  /** Loads the thread if it is not loaded, and follows it. */
  follow(): Promise<FollowedThread> {
    if (this.#thread !== undefined) return Promise.resolve(this.#thread);
    this.#following ??= this.#resume().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  /** Reads earlier turns. */
  async readOlder(): Promise<void> {
    if (this.isReading.value) return;
    this.isReading.value = true;
    await this.#attempt(async () => {
      const thread = this.#thread;
      if (thread !== undefined) {
        const before = thread.state.turns.length;
        await thread.loadOlder(PAGE);
        this.hasOlder.value = thread.state.turns.length >= before + PAGE;
      } else if (this.#olderCursor !== null) {
        const { data, nextCursor } = await this.#turns(this.#olderCursor);
        this.#setOlder(nextCursor);
        this.#reduce({ type: "olderTurns", turns: data.toReversed() });
      }
    });
  }

  async #open(): Promise<void> {
    const { thread } = await this.#bobbin.request("thread/read", { threadId: this.id }).catch(explain);
    if (this.#isClosed) return;
    if (thread.status.type !== "notLoaded") {
      await this.follow();
      return;
    }
    const { data, nextCursor } = await this.#turns(null);
    this.#setOlder(nextCursor);
    const read = { ...thread, turns: data.toReversed() };
    this.#reduce({ type: "read", thread: read, includesTurns: true });
    // Refused for archived and ephemeral threads, and where goals are switched off.
    const found = await this.#bobbin.request("thread/goal/get", { threadId: this.id }).catch(() => null);
    if (found?.goal) this.#readGoal(found.goal);
  }

  /** Applies a goal to the state. A followed thread gets its goal from notifications instead. */
  #readGoal(goal: ThreadGoal | null): void {
    if (this.#thread === undefined) this.#reduce({ type: "goal", goal });
  }

  #turns(cursor: string | null) {
    return this.#bobbin.request("thread/turns/list", {
      threadId: this.id,
      limit: PAGE,
      itemsView: "full",
      sortDirection: "desc",
      ...(cursor !== null && { cursor }),
    });
  }

  async #resume(): Promise<FollowedThread> {
    const thread = await this.#bobbin.resumeThread(this.id, {}, { recentTurns: PAGE });
    if (this.#isClosed) {
      await thread.leave();
      return thread;
    }
    this.#thread = thread;
    this.hasOlder.value = thread.state.turns.length >= PAGE;
    this.#stop.push(thread.subscribe(() => this.#publish()));
    this.#publish();
    return thread;
  }

  /** Follows a thread that another client has loaded. */
  #loadedByOthers(): void {
    const thread = this.#thread;
    if (thread === undefined) void this.#attempt(async () => void (await this.follow()));
    else if (this.#wasUnloaded) void this.#attempt(() => this.#load(thread));
  }

  async #load(thread: FollowedThread): Promise<void> {
    this.#wasUnloaded = false;
    await this.#bobbin.reload(thread);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem.value = undefined;
    } catch (cause) {
      if (!this.#isClosed) this.problem.value = cause instanceof Error ? cause.message : String(cause);
    } finally {
      this.isReading.value = false;
    }
  }

  #setOlder(cursor: string | null): void {
    this.#olderCursor = cursor;
    this.hasOlder.value = cursor !== null;
  }

  #reduce(event: ThreadEvent): void {
    this.#read = reduceThread(this.#read, event);
    this.#publish();
  }

  #publish(): void {
    if (this.#thread?.isUnloaded) this.#wasUnloaded = true;
    onNextFrame(this, () => {
      this.state.value = this.#thread?.state ?? this.#read;
    });
  }
}

/** Explains the host's reply for an ID that no thread has: clients of the Codex CLI expect it to say "not loaded". */
function explain(cause: unknown): never {
  const code = cause instanceof RpcError ? (cause.data as { code?: unknown } | undefined)?.code : undefined;
  if (code !== "threadNotLoaded") throw cause;
  throw new Error("This host has no thread with the ID in the address. It may have been deleted.");
}
