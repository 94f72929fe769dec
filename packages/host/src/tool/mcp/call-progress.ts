import type { Cancel, Timers } from "../../platform/platform.ts";
import type { McpProgress } from "./mcp-interface.ts";

/** Minimum interval between two progress notifications to clients. */
const EVERY_MS = 100;
const MAX_MESSAGE = 1000;

/**
 * Forwards the progress of one call to clients: the first message at once, then at most one per interval, the latest.
 */
export class CallProgress {
  readonly #timers: Timers;
  readonly #forward: (message: string) => void;
  #waiting: string | undefined;
  #pause: Cancel | undefined;
  #ended = false;

  constructor(timers: Timers, forward: (message: string) => void) {
    this.#timers = timers;
    this.#forward = forward;
  }

  received(progress: McpProgress): void {
    if (this.#ended) return;
    const message = textOf(progress);
    if (this.#pause === undefined) this.#send(message);
    else this.#waiting = message;
  }

  /** Forwards the latest message now if it still waits for its interval. */
  flush(): void {
    this.#pause?.();
    this.#pause = undefined;
    if (this.#waiting !== undefined) this.#send(this.#waiting);
  }

  /** Ends the call: later progress is dropped. */
  end(): void {
    this.#ended = true;
    this.#pause?.();
  }

  #send(message: string): void {
    this.#waiting = undefined;
    this.#forward(message);
    this.#pause = this.#timers.after(EVERY_MS, () => {
      this.#pause = undefined;
      if (this.#waiting !== undefined && !this.#ended) this.#send(this.#waiting);
    });
  }
}

function textOf({ progress, total, message }: McpProgress): string {
  if (message) return message.slice(0, MAX_MESSAGE);
  return total === undefined ? String(progress) : `${progress}/${total}`;
}
