// Delivers messages to hosts. A callback URL is a secret, because its holder can post into a conversation: it is not
// logged, and redirects are not followed.
import { type CallbackMessage, IDEMPOTENCY_KEY } from "../wire/index.ts";
import { type Platform, pause } from "./platform.ts";

/** Retries of a delivery. */
export interface RetryPolicy {
  /** Pause after the first failure. Each further pause is twice as long. */
  readonly firstMs: number;
  /** Limit on a pause. */
  readonly maxMs: number;
  /** Time after which a message is given up. Long by default, because hosts may be down over a weekend. */
  readonly giveUpAfterMs: number;
  /** Time limit of one attempt. */
  readonly attemptMs: number;
}

export const defaultRetry: RetryPolicy = {
  firstMs: 250,
  maxMs: 60_000,
  giveUpAfterMs: 7 * 24 * 60 * 60_000,
  attemptMs: 30_000,
};

/** How a delivery ended. `gone`: the callback URL is no longer valid (404 or 410). `gaveUp`: all retries failed. */
export type Delivery =
  | { readonly kind: "delivered" }
  | { readonly kind: "gone"; readonly status: number }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "gaveUp"; readonly last: string }
  | { readonly kind: "aborted" };

export interface DeliverOptions {
  /** Lets the host recognize the message if it is sent again. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** Gives up earlier than the policy does. 0 for a single attempt. */
  readonly giveUpAfterMs?: number;
  /** Called after the first attempt has failed, before the retries. */
  readonly delayed?: () => Promise<void>;
}

export class CallbackSender {
  readonly #platform: Platform;
  readonly #policy: RetryPolicy;

  constructor(platform: Platform, policy: RetryPolicy) {
    this.#platform = platform;
    this.#policy = policy;
  }

  /** Posts a message until it is accepted, refused or given up. Rejects only if `delayed` does. */
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

  /** One attempt. Resolves with a text (the reason) if it failed and may be repeated. */
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
      // An unread body would keep the connection busy.
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
  // Some platforms hide the status of a redirect that is not followed.
  if (type === "opaqueredirect") return { kind: "refused", status: 302 };
  return { kind: status === 404 || status === 410 ? "gone" : "refused", status };
}

/** A text for an error, without the callback URL that messages of `fetch` errors may contain. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "it could not be sent";
}
