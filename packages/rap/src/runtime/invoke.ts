import { encodeInvocation, type Invocation } from "../wire/index.ts";
import type { ServerAddress } from "./address.ts";
import { noAnswer } from "./discovery.ts";
import { discard, exchange, type RuntimePorts } from "./http.ts";

/** How often, and for how long, a request is tried. */
export interface AttemptPolicy {
  readonly attempts: number;
  /** The pause after the first failure; each next one is twice as long. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** How long a server may take to acknowledge. */
  readonly attemptMs: number;
}

export const defaultAttempts: AttemptPolicy = {
  attempts: 6,
  firstPauseMs: 200,
  maxPauseMs: 5000,
  attemptMs: 30_000,
};

export type Acceptance =
  | { readonly kind: "accepted" }
  /** It will not take it, however often it is asked. */
  | { readonly kind: "refused"; readonly says: string }
  /** It could not be reached, or could not take it. */
  | { readonly kind: "unreachable"; readonly says: string }
  /** It may have taken it, and has not said so. */
  | { readonly kind: "unknown"; readonly says: string }
  | { readonly kind: "aborted" };

export interface PostOptions {
  readonly policy?: AttemptPolicy;
  /** A request that may have been heard can be sent again without harm. */
  readonly idempotent: boolean;
  readonly signal?: AbortSignal;
}

export interface InvokeOptions extends PostOptions {
  /** The arguments as JSON, where `JSON.stringify` would change them. */
  readonly argumentsJson?: string | undefined;
}

/**
 * Sends a call to the endpoint of its toolset. It is tried again, with growing pauses, where there was no connection or
 * the server failed at it (5xx); a refusal (4xx) is not. What may have been heard is tried again only if it is idempotent.
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

/** Posts until it is taken, refused, or given up. Does not throw. */
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
        // The status says it all.
        await discard(answer).catch(() => {});
        return answer.status;
      },
      signal,
    );
    if (got.kind === "aborted") return { kind: "aborted" };
    if (got.kind === "answered" && got.value === 200) return { kind: "accepted" };
    if (got.kind === "answered" && got.value < 500)
      return { kind: "refused", says: `it answered with status ${got.value}` };
    const says = got.kind === "answered" ? `it answered with status ${got.value}` : noAnswer(got);
    // It may have been heard. A server need not know a call that it has had before.
    const heard = got.kind === "timedOut" || (got.kind === "failed" && got.left);
    if (heard && !idempotent) return { kind: "unknown", says };
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

/** False if it was cut short. */
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
