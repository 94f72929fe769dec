import type { RateLimitSnapshot, Result } from "@bobbin/protocol";
import { NOTHING_SAID } from "../model/limits.ts";

/** Servers name their limits; so many of them are remembered. */
const MAX_LIMITS = 64;

type Read = Pick<Result<"account/rateLimits/read">, "rateLimits" | "rateLimitsByLimitId">;

/** What providers have said about limits, as far as they have. */
export class RateLimits {
  readonly #known = new Map<string, RateLimitSnapshot>();

  /** Each snapshot says only what has changed. */
  note(snapshot: RateLimitSnapshot): void {
    const id = snapshot.limitId ?? "";
    const before = this.#known.get(id);
    if (before === undefined && this.#known.size >= MAX_LIMITS) return;
    const said = Object.entries(snapshot).filter(([, value]) => value !== null);
    this.#known.set(id, { ...(before ?? snapshot), ...Object.fromEntries(said) });
  }

  read(): Read {
    const [first] = this.#known.values();
    if (first === undefined) return { rateLimits: NOTHING_SAID, rateLimitsByLimitId: null };
    return {
      rateLimits: this.#known.get("codex") ?? first,
      rateLimitsByLimitId: Object.fromEntries(this.#known),
    };
  }
}
