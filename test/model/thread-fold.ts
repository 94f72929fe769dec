import type { Result, Thread } from "@bobbin/protocol";
import {
  currentItem,
  emptyThread,
  reduceThread,
  type ThreadEvent,
  type ThreadState,
} from "../../packages/client/src/index.ts";
import type { Message } from "../simulation/frame-rules.ts";

interface Request {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** Folds the frames of a client, which may reconnect, into the states of its threads. */
export class ThreadFold {
  readonly #states = new Map<string, ThreadState>();
  /** Threads that this connection follows. */
  readonly #followed = new Set<string>();

  get states(): ReadonlyMap<string, ThreadState> {
    return this.#states;
  }

  reconnected(): void {
    this.#followed.clear();
  }

  /** `request`: the request that the frame replies to. */
  hear(frame: Message, request: Request | undefined): void {
    if (frame.method !== undefined) {
      const { threadId } = (frame.params ?? {}) as { threadId?: string };
      for (const [id, state] of this.#states) this.#states.set(id, reduceThread(state, frame as ThreadEvent));
      if (frame.method === "thread/closed" && threadId !== undefined) this.#followed.delete(threadId);
      return;
    }
    if (frame.result === undefined || request === undefined) return;
    this.#replied(request, frame.result);
  }

  #replied({ method, params }: Request, result: Record<string, unknown>): void {
    const threadId = (result.thread as Thread | undefined)?.id ?? (params.threadId as string);
    switch (method) {
      case "thread/start":
      case "thread/fork":
      case "thread/resume":
        this.#reduce(threadId, {
          type: "loaded",
          result: result as unknown as Result<"thread/resume">,
          again: this.#followed.has(threadId),
        });
        this.#followed.add(threadId);
        break;
      case "thread/read":
      case "thread/rollback":
        if (this.#states.has(threadId)) {
          const includesTurns = method === "thread/rollback" || params.includeTurns === true;
          this.#reduce(threadId, { type: "read", thread: result.thread as Thread, includesTurns });
        }
        break;
      case "thread/queue/list":
        this.#reduce(threadId, {
          type: "queue",
          submissions: (result as unknown as Result<"thread/queue/list">).data,
        });
        break;
    }
  }

  #reduce(threadId: string, event: ThreadEvent): void {
    this.#states.set(threadId, reduceThread(this.#states.get(threadId) ?? emptyThread(threadId), event));
  }
}

/**
 * The parts of a state that must be equal for two clients, however they got it. Plans, diffs and warnings are in no
 * reply. The end time of a cut-off answer is only in replies.
 */
export function agreed(state: ThreadState): object {
  const { status, name, settings, tokenUsage, goal, queue, requests } = state;
  const turns = state.turns.map(({ plan: _plan, diff: _diff, retrying: _retrying, ...turn }) => ({
    ...turn,
    items: turn.items.map((item) => ({ ...currentItem(state, item), completedAtMs: null })),
  }));
  const asked = [...requests].sort((one, other) => String(one.id).localeCompare(String(other.id)));
  return { status, name, settings, tokenUsage, goal, queue, requests: asked, turns };
}
