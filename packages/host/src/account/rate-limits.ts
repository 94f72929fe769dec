import type { RateLimitSnapshot, Result } from "@bobbin/protocol";
import { EMPTY_SNAPSHOT } from "../model/rate-limit-parser.ts";

/** Limit on the number of stored rate limits, because servers choose their IDs. */
const MAX_LIMITS = 64;

type Read = Pick<Result<"account/rateLimits/read">, "rateLimits" | "rateLimitsByLimitId">;

/** The rate limits that providers have reported. */
export class RateLimits {
  readonly #known = new Map<string, RateLimitSnapshot>();

  /** Merges a snapshot, which contains only changed values. */
  note(snapshot: RateLimitSnapshot): void {
    const id = snapshot.limitId ?? "";
    const before = this.#known.get(id);
    if (before === undefined && this.#known.size >= MAX_LIMITS) return;
    const changedValues = Object.entries(snapshot).filter(([, value]) => value !== null);
    this.#known.set(id, { ...(before ?? snapshot), ...Object.fromEntries(changedValues) });
  }

  /** Returns all limits. `own` is the current limit of the host itself. It is not merged, because it is complete. */
  read(own?: RateLimitSnapshot): Read {
    const limits = new Map([
      ...(own === undefined ? [] : [[own.limitId ?? "", own] as const]),
      ...this.#known,
    ]);
    const [first] = limits.values();
    if (first === undefined) return { rateLimits: EMPTY_SNAPSHOT, rateLimitsByLimitId: null };
    return {
      rateLimits: limits.get("codex") ?? first,
      rateLimitsByLimitId: Object.fromEntries(limits),
    };
  }
}
