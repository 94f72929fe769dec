/** What a tool server takes from the world. Tests give their own. */
export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after `ms`, however long that is; the returned function cancels. Keeps no process alive. */
  after(ms: number, run: () => void): () => void;
  /** Not to be guessed. */
  randomBytes(length: number): Uint8Array;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

// Timers count in 31 bits, and go off at once for more.
const LONGEST_TIMER = 2 ** 31 - 1;

/** The world as every JavaScript runtime has it. */
export const webPlatform: Platform = {
  now: () => Date.now(),
  after(ms, run) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (left: number): void => {
      const now = Math.min(left, LONGEST_TIMER);
      timer = setTimeout(() => (left > now ? wait(left - now) : run()), now);
      // A number outside of Node.
      if (typeof timer === "object") timer.unref();
    };
    wait(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  fetch: (url, init) => fetch(url, init),
};

/** A random text that is safe in URLs and headers. */
export function randomToken(platform: Platform, bytes = 18): string {
  return base64Url(platform.randomBytes(bytes));
}

export function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Resolves after `ms`, or at once when the signal aborts; tells which. */
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
