import type { RateLimitSnapshot, RateLimitWindow } from "@bobbin/protocol";
import type { HttpAnswer } from "../platform/platform.ts";
import { type Loose, objectIn, textIn } from "./loose-json.ts";

type Headers = HttpAnswer["headers"];

/** The limit id for headers that name no limit. */
const DEFAULT_LIMIT = "codex";
const USED = /^x-(.+)-primary-used-percent$/;

/** Reads rate-limit snapshots from response headers, one per limit. */
export function limitsInHeaders(headers: Headers): readonly RateLimitSnapshot[] {
  const names = [...headers.keys()].flatMap((name) => USED.exec(name.toLowerCase())?.[1] ?? []);
  const others = names.filter((name) => name !== DEFAULT_LIMIT).sort();
  return [DEFAULT_LIMIT, ...others].map((name) => snapshotOf(headers, name)).filter(isFilled);
}

/** Reads a rate-limit snapshot from an event of the stream. */
export function limitsInEvent(event: Loose): RateLimitSnapshot {
  const limits = objectIn(event.rate_limits);
  const id = textIn(event.metered_limit_name) || textIn(event.limit_name) || DEFAULT_LIMIT;
  const credits = objectIn(event.credits);
  return {
    ...EMPTY_SNAPSHOT,
    limitId: idOf(id),
    primary: windowIn(limits.primary),
    secondary: windowIn(limits.secondary),
    credits:
      event.credits == null
        ? null
        : {
            hasCredits: credits.has_credits === true,
            unlimited: credits.unlimited === true,
            balance: textIn(credits.balance) || null,
          },
  };
}

/** A snapshot without any information. */
export const EMPTY_SNAPSHOT: RateLimitSnapshot = {
  credits: null,
  individualLimit: null,
  limitId: null,
  limitName: null,
  normalModelSlug: null,
  planType: null,
  primary: null,
  rateLimitReachedType: null,
  secondary: null,
  spendControlReached: null,
};

function isFilled({ primary, secondary, credits }: RateLimitSnapshot): boolean {
  return primary !== null || secondary !== null || credits !== null;
}

function snapshotOf(headers: Headers, name: string): RateLimitSnapshot {
  return {
    ...EMPTY_SNAPSHOT,
    limitId: idOf(name),
    limitName: headers.get(`x-${name}-limit-name`)?.trim() || null,
    primary: windowOf(headers, `x-${name}-primary`),
    secondary: windowOf(headers, `x-${name}-secondary`),
    credits: creditsOf(headers),
  };
}

function idOf(name: string): string {
  return name.trim().toLowerCase().replaceAll("-", "_");
}

function windowOf(headers: Headers, prefix: string): RateLimitWindow | null {
  const used = numberIn(headers.get(`${prefix}-used-percent`));
  if (used === null) return null;
  const windowDurationMins = wholeIn(headers.get(`${prefix}-window-minutes`));
  const resetsAt = wholeIn(headers.get(`${prefix}-reset-at`));
  // Zeros in all fields mean that this limit does not apply to the account.
  if (used === 0 && !windowDurationMins && resetsAt === null) return null;
  return { usedPercent: Math.round(used), windowDurationMins, resetsAt };
}

function windowIn(value: unknown): RateLimitWindow | null {
  const { used_percent: used, window_minutes: minutes, reset_at: at } = objectIn(value);
  if (typeof used !== "number") return null;
  return {
    usedPercent: Math.round(used),
    windowDurationMins: wholeIn(minutes),
    resetsAt: wholeIn(at),
  };
}

function creditsOf(headers: Headers): RateLimitSnapshot["credits"] {
  const hasCredits = flagIn(headers.get("x-codex-credits-has-credits"));
  const unlimited = flagIn(headers.get("x-codex-credits-unlimited"));
  if (hasCredits === null || unlimited === null) return null;
  return { hasCredits, unlimited, balance: headers.get("x-codex-credits-balance")?.trim() || null };
}

function numberIn(value: unknown): number | null {
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function wholeIn(value: unknown): number | null {
  const number = numberIn(value);
  return number !== null && Number.isSafeInteger(number) ? number : null;
}

function flagIn(value: string | null): boolean | null {
  if (value === "1" || value?.toLowerCase() === "true") return true;
  return value === "0" || value?.toLowerCase() === "false" ? false : null;
}
