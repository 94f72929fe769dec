/** The clock, timers, randomness and network that a tool server uses. Tests replace it. */
export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `run` once after `ms`, which may exceed the limit of `setTimeout`. Does not keep the process alive. The
   * returned function cancels.
   */
  after(ms: number, run: () => void): () => void;
  /** Cryptographically secure. */
  randomBytes(length: number): Uint8Array;
  /** Sends a request over the network. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

// `setTimeout` fires at once for a longer delay.
const LONGEST_TIMER = 2 ** 31 - 1;

/** The platform on the globals that every JavaScript runtime has. */
export const webPlatform: Platform = {
  now: () => Date.now(),
  after(ms, run) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (left: number): void => {
      const now = Math.min(left, LONGEST_TIMER);
      timer = setTimeout(() => (left > now ? wait(left - now) : run()), now);
      // Outside of Node a timer is a number.
      if (typeof timer === "object") timer.unref();
    };
    wait(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  fetch: (url, init) => fetch(url, init),
};

/** A random text of URL-safe characters. */
export function randomToken(platform: Platform, bytes = 18): string {
  return base64Url(platform.randomBytes(bytes));
}

export function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Resolves after `ms` with `passed`, or with `aborted` as soon as the signal aborts. */
export function pause(platform: Platform, ms: number, signal?: AbortSignal): Promise<"passed" | "aborted"> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve("aborted");
    const aborted = (): void => {
      cancel();
      resolve("aborted");
    };
    const cancel = platform.after(ms, () => {
      signal?.removeEventListener("abort", aborted);
      resolve("passed");
    });
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
