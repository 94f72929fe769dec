import type { NotificationName, NotificationParams, Params, UserInput } from "@bobbin/protocol";
import { NoAnswerError } from "@bobbin/rpc";
import type { BobbinClient } from "./client.ts";

/** Any notification, told apart by `method`. */
export type Notification = {
  [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];

/** What `turn/start` takes, and a signal that interrupts the turn. */
export interface TurnOptions extends Omit<Params<"turn/start">, "threadId" | "input"> {
  readonly signal?: AbortSignal | undefined;
}

export async function* runTurn(
  client: BobbinClient,
  threadId: string,
  input: string | readonly UserInput[],
  { signal, ...settings }: TurnOptions,
): AsyncGenerator<Notification, void, undefined> {
  signal?.throwIfAborted();
  const parts: UserInput[] = typeof input === "string" ? [{ type: "text", text: input }] : [...input];
  // Notifications may overtake the reply that says which turn it is: they are kept until that is known.
  const queue: Notification[] = [];
  let wake = () => {};
  const stopListening = client.onNotification((notification) => {
    if (threadOf(notification) !== threadId) return;
    queue.push(notification);
    wake();
  });
  let gone: string | undefined;
  const stopWatching = client.onClosed((why) => {
    gone = why;
    wake();
  });
  let stopInterrupting = () => {};
  try {
    const { turn } = await client.request("turn/start", { ...settings, threadId, input: parts });
    stopInterrupting = whenAborted(signal, () => {
      // It fails when the turn has just ended, which is what was wanted.
      client.request("turn/interrupt", { threadId, turnId: turn.id }).catch(() => {});
    });
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) {
        if ((turnOf(next) ?? turn.id) !== turn.id) continue;
        yield next;
        if (next.method === "turn/completed") return;
      } else if (gone !== undefined) {
        throw new NoAnswerError("closed", `the turn's end was not seen: ${gone}`);
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

function threadOf({ params }: Notification): string | null | undefined {
  if ("threadId" in params) return params.threadId;
  return "thread" in params ? params.thread.id : undefined;
}

/** Undefined for what concerns the thread as a whole. */
function turnOf({ params }: Notification): string | undefined {
  if ("turnId" in params) return params.turnId ?? undefined;
  return "turn" in params ? params.turn.id : undefined;
}
