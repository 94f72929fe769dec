import { LoginError } from "../../../oauth/login-error.ts";
import type { Platform } from "../../../platform/platform.ts";
import { discover } from "./discovery.ts";
import type { LoginTarget } from "./login-target.ts";

export type Support = "notLoggedIn" | "unsupported" | "unknown";

/** Time limit for asking one server, so that it does not delay a list of servers. */
const TIMEOUT_MS = 5_000;
/** How long a definite answer is cached, and how long a failed attempt. */
const KNOWN_MS = 5 * 60_000;
const UNKNOWN_MS = 30_000;
const MAX_CACHED = 500;

/** Finds out whether servers support OAuth logins, and caches the answers. */
export class LoginSupport {
  readonly #platform: Pick<Platform, "fetch" | "timers" | "clock">;
  readonly #found = new Map<string, { readonly until: number; readonly support: Promise<Support> }>();

  constructor(platform: Pick<Platform, "fetch" | "timers" | "clock">) {
    this.#platform = platform;
  }

  of(server: LoginTarget, signal: AbortSignal): Promise<Support> {
    const { clock } = this.#platform;
    const known = this.#found.get(server.key);
    if (known !== undefined && clock.monotonic() < known.until) return known.support;
    const support = this.#ask(server, signal);
    this.#remember(server.key, support, UNKNOWN_MS);
    return support.then((found) => {
      if (found !== "unknown") this.#remember(server.key, support, KNOWN_MS);
      return found;
    });
  }

  #remember(key: string, support: Promise<Support>, ms: number): void {
    this.#found.delete(key);
    this.#found.set(key, { until: this.#platform.clock.monotonic() + ms, support });
    const [oldest] = this.#found.keys();
    if (this.#found.size > MAX_CACHED) this.#found.delete(oldest!);
  }

  async #ask(server: LoginTarget, signal: AbortSignal): Promise<Support> {
    const late = new AbortController();
    const stopTimer = this.#platform.timers.after(TIMEOUT_MS, () => late.abort());
    try {
      await discover(server, this.#platform, AbortSignal.any([signal, late.signal]));
      return "notLoggedIn";
    } catch (cause) {
      if (!(cause instanceof LoginError)) throw cause;
      return cause.kind === "unsupported" ? "unsupported" : "unknown";
    } finally {
      stopTimer();
    }
  }
}
