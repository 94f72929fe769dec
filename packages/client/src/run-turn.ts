import type {
  NotificationName,
  NotificationParams,
  Params,
  ReviewTarget,
  Turn,
  UserInput,
} from "@bobbin/protocol";
import { NoAnswerError } from "@bobbin/rpc";
import type { BobbinClient } from "./client.ts";

/** Any notification; a union that is discriminated by `method`. */
export type Notification = {
  [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];

/** Further params of `turn/start`, and a signal that interrupts the turn. */
export interface TurnOptions extends Omit<Params<"turn/start">, "threadId" | "input"> {
  /** Interrupts the turn when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

export function runTurn(
  client: BobbinClient,
  threadId: string,
  input: string | readonly UserInput[],
  { signal, ...settings }: TurnOptions,
): AsyncGenerator<Notification, void, undefined> {
  const start = () => client.request("turn/start", { ...settings, threadId, input: inputOf(input) });
  return startedTurn(client, threadId, start, signal);
}

export function runReview(
  client: BobbinClient,
  threadId: string,
  target: ReviewTarget,
  signal: AbortSignal | undefined,
): AsyncGenerator<Notification, void, undefined> {
  const start = () => client.request("review/start", { threadId, target });
  return startedTurn(client, threadId, start, signal);
}

/** Starts a turn and yields its notifications, until its end. */
async function* startedTurn(
  client: BobbinClient,
  threadId: string,
  start: () => Promise<{ readonly turn: Turn }>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Notification, void, undefined> {
  signal?.throwIfAborted();

  // Notifications may arrive before the reply with the turn's id, so they are queued until then.
  const queue: Notification[] = [];
  let wake = () => {};
  const stopListening = client.onNotification((notification) => {
    if (threadOf(notification) !== threadId) return;
    queue.push(notification);
    wake();
  });
  let closeReason: string | undefined;
  const stopWatching = client.onClosed((why) => {
    closeReason = why;
    wake();
  });
  let stopInterrupting = () => {};
  try {
    const { turn } = await start();
    stopInterrupting = whenAborted(signal, () => {
      // Fails if the turn has just ended. That is fine.
      client.request("turn/interrupt", { threadId, turnId: turn.id }).catch(() => {});
    });
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) {
        if (!belongsTo(turn.id, next)) continue;
        yield next;
        if (next.method === "turn/completed") return;
      } else if (closeReason !== undefined) {
        throw new NoAnswerError("closed", `the turn's end was not seen: ${closeReason}`);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stopListening();
    stopWatching();
    stopInterrupting();
  }
}

function whenAborted(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted) run();
  else signal?.addEventListener("abort", run, { once: true });
  return () => signal?.removeEventListener("abort", run);
}

export function threadOf({ params }: Notification): string | null | undefined {
  if ("threadId" in params) return params.threadId;
  return "thread" in params ? params.thread.id : undefined;
}

/** Id of the notification's turn; undefined if it concerns the whole thread. */
function turnOf({ params }: Notification): string | undefined {
  if ("turnId" in params) return params.turnId ?? undefined;
  return "turn" in params ? params.turn.id : undefined;
}

export function belongsTo(turnId: string, notification: Notification): boolean {
  return (turnOf(notification) ?? turnId) === turnId;
}

export function inputOf(input: string | readonly UserInput[]): UserInput[] {
  return typeof input === "string" ? [{ type: "text", text: input }] : [...input];
}
