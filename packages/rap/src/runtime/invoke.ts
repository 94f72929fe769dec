import { encodeInvocation, type Invocation } from "../wire/index.ts";
import { noAnswerText } from "./discovery.ts";
import { discard, exchange, type RuntimePorts } from "./http-exchange.ts";
import type { ServerAddress } from "./server-address.ts";

/** Retries of a request: how many, how far apart, and the time limit of each attempt. */
export interface AttemptPolicy {
  readonly attempts: number;
  /** Pause after the first failure. Each further pause is twice as long, up to `maxPauseMs`. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** Time limit for the server's acknowledgement of one attempt. */
  readonly attemptMs: number;
}

export const defaultAttempts: AttemptPolicy = {
  attempts: 6,
  firstPauseMs: 200,
  maxPauseMs: 5000,
  attemptMs: 30_000,
};

/** How sending a call ended. */
export type Acceptance =
  | { readonly kind: "accepted" }
  /** The server refused the request for good (a status below 500 that is not 200). */
  | { readonly kind: "refused"; readonly says: string }
  /** The server could not be reached, or failed (5xx), at every attempt. */
  | { readonly kind: "unreachable"; readonly says: string }
  /** The server may have received the request, but did not acknowledge it. */
  | { readonly kind: "unknown"; readonly says: string }
  | { readonly kind: "aborted" };

export interface PostOptions {
  readonly policy?: AttemptPolicy;
  /** Whether the request may be sent again after an attempt that the server may have received. */
  readonly idempotent: boolean;
  readonly signal?: AbortSignal;
}

export interface InvokeOptions extends PostOptions {
  /** The arguments as JSON text. For arguments that `JSON.stringify` would change, such as integers beyond 2^53. */
  readonly argumentsJson?: string | undefined;
}

/**
 * Sends a call to the endpoint of its toolset. Retries with exponential backoff if there was no connection or the
 * server failed (5xx), and not after a refusal (4xx). An attempt that the server may have received is repeated only if
 * the call is idempotent.
 *
 * @example
 * const ended = await invoke(server, toolset.endpoint, call, ports, { idempotent: false });
 * if (ended.kind !== "accepted") tellModel(ended);
 */
export function invoke(
  server: ServerAddress,
  endpoint: string,
  invocation: Invocation,
  ports: RuntimePorts,
  options: InvokeOptions,
): Promise<Acceptance> {
  return post(server, endpoint, encodeInvocation(invocation, options.argumentsJson), ports, options);
}

/**
 * Posts a JSON body to a tool server until it is accepted, refused or given up. Never rejects.
 *
 * @example
 * const ended = await post(server, choice.response_url, JSON.stringify({ id, selected }), ports, { idempotent: true });
 */
export async function post(
  server: ServerAddress,
  address: string,
  body: string,
  ports: RuntimePorts,
  { policy = defaultAttempts, idempotent, signal }: PostOptions,
): Promise<Acceptance> {
  const headers = { ...server.headers, "content-type": "application/json" };
  for (let attempt = 1; ; attempt++) {
    const got = await exchange(
      ports,
      new URL(address),
      { method: "POST", headers, body },
      policy.attemptMs,
      async (answer) => {
        // Only the status counts. A body that breaks off does not matter.
        await discard(answer).catch(() => {});
        return answer.status;
      },
      signal,
    );
    if (got.kind === "aborted") return { kind: "aborted" };
    if (got.kind === "answered" && got.value === 200) return { kind: "accepted" };
    if (got.kind === "answered" && got.value < 500)
      return { kind: "refused", says: `it answered with status ${got.value}` };
    const says = got.kind === "answered" ? `it answered with status ${got.value}` : noAnswerText(got);
    // The server may have received the call, and need not recognize a repeated call id.
    const mayHaveArrived = got.kind === "timedOut" || (got.kind === "failed" && got.mayHaveArrived);
    if (mayHaveArrived && !idempotent) return { kind: "unknown", says };
    if (attempt >= policy.attempts) return { kind: "unreachable", says };
    if (!(await pause(ports, pauseMs(policy, attempt, ports), signal))) return { kind: "aborted" };
  }
}

function pauseMs(
  { firstPauseMs, maxPauseMs }: AttemptPolicy,
  attempt: number,
  { random }: RuntimePorts,
): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}

/** Resolves with false if the signal aborts the pause. */
function pause(
  { after }: Pick<RuntimePorts, "after">,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve(true);
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
