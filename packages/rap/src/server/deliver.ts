// Messages on their way to a host. A callback URL is a secret that lets its holder speak in a conversation: it is
// used as it is, goes into no log, and no redirect is followed with it.
import { type CallbackMessage, IDEMPOTENCY_KEY } from "../wire/index.ts";
import { type Platform, pause } from "./platform.ts";

export interface RetryPolicy {
  /** The wait after the first failure; each next one is twice as long. */
  readonly firstMs: number;
  /** No wait is longer. */
  readonly maxMs: number;
  /** When a message is given up. Hosts come back, after a weekend too. */
  readonly giveUpAfterMs: number;
  /** How long one attempt may take. */
  readonly attemptMs: number;
}

export const defaultRetry: RetryPolicy = {
  firstMs: 250,
  maxMs: 60_000,
  giveUpAfterMs: 7 * 24 * 60 * 60_000,
  attemptMs: 30_000,
};

/** How a delivery ended. `refused` has the status; `gone` means that nothing will ever be taken there again. */
export type Delivery =
  | { readonly kind: "delivered" }
  | { readonly kind: "gone"; readonly status: number }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "gaveUp"; readonly last: string }
  | { readonly kind: "aborted" };

export interface DeliverOptions {
  /** Makes a message have its effect once, however often it arrives. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** When it is given up, if that is earlier; 0 for what is hardly wanted any more. */
  readonly giveUpAfterMs?: number;
  /** Called when it was not taken at once, before it is tried again. */
  readonly delayed?: () => Promise<void>;
}

export class Delivering {
  readonly #platform: Platform;
  readonly #policy: RetryPolicy;

  constructor(platform: Platform, policy: RetryPolicy) {
    this.#platform = platform;
    this.#policy = policy;
  }

  /** Posts until it is taken, refused for good, or given up. Throws only what `delayed` throws. */
  async deliver(url: string, message: CallbackMessage, options: DeliverOptions = {}): Promise<Delivery> {
    const { firstMs, maxMs } = this.#policy;
    const giveUpAfterMs = Math.min(
      this.#policy.giveUpAfterMs,
      options.giveUpAfterMs ?? Number.POSITIVE_INFINITY,
    );
    const body = JSON.stringify(message);
    const begun = this.#platform.now();
    for (let attempt = 0; ; attempt++) {
      if (options.signal?.aborted) return { kind: "aborted" };
      const ended = await this.#attempt(url, body, options);
      if (typeof ended !== "string") return ended;
      if (attempt === 0) await options.delayed?.();
      const wait = Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + this.#platform.randomBytes(1)[0]! / 512);
      if (this.#platform.now() + wait - begun > giveUpAfterMs) return { kind: "gaveUp", last: ended };
      if ((await pause(this.#platform, wait, options.signal)) === "aborted") return { kind: "aborted" };
    }
  }

  /** A text says what went wrong for now. */
  async #attempt(url: string, body: string, options: DeliverOptions): Promise<Delivery | string> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (options.idempotencyKey !== undefined) headers[IDEMPOTENCY_KEY] = options.idempotencyKey;
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    const cancel = this.#platform.after(this.#policy.attemptMs, stop);
    options.signal?.addEventListener("abort", stop, { once: true });
    try {
      const response = await this.#platform.fetch(url, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: attempt.signal,
      });
      // Nobody reads it, and it must not hold the connection.
      await response.body?.cancel().catch(() => {});
      return verdict(response);
    } catch (error) {
      if (options.signal?.aborted) return { kind: "aborted" };
      return attempt.signal.aborted ? "it took too long" : reason(error);
    } finally {
      cancel();
      options.signal?.removeEventListener("abort", stop);
    }
  }
}

function verdict({ ok, status, type }: Response): Delivery | string {
  if (ok) return { kind: "delivered" };
  if (status >= 500) return `it was answered with ${status}`;
  // A redirect that was not followed shows no status everywhere.
  if (type === "opaqueredirect") return { kind: "refused", status: 302 };
  return { kind: status === 404 || status === 410 ? "gone" : "refused", status };
}

/** Without the address, which errors of fetch like to name. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "it could not be sent";
}
