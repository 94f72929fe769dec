import type { ChatSession } from "./chat-session.ts";

/** A second Ctrl-C within this time is ignored: under npm one Ctrl-C arrives twice, from the terminal and from npm. */
const SAME_SIGNAL_MS = 500;

/** Handles Ctrl-C and SIGTERM. During a turn the first Ctrl-C interrupts the turn, and a second one leaves the chat. */
export class ChatSignals {
  readonly #say: (line: string) => void;
  readonly #ended = new AbortController();
  #session: ChatSession | undefined;
  #interruptedAt: number | undefined;
  #exitCode: number | undefined;
  #isLeaving = false;
  readonly #exit: (code: number) => void;

  /** `exit` ends the process at once. */
  constructor(say: (line: string) => void, exit: (code: number) => void = (code) => process.exit(code)) {
    this.#say = say;
    this.#exit = exit;
    process.on("SIGINT", this.#interrupt);
    process.on("SIGTERM", this.#terminate);
  }

  /** Aborted when the chat has to end. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The exit code; undefined while the chat continues. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Whether the user wants to leave without waiting for anything. */
  get isUrgent(): boolean {
    return this.#exitCode === 130;
  }

  /** Waits for a turn, which Ctrl-C interrupts. Resolves with undefined if the chat has to end before the turn. */
  async during<T>(session: ChatSession, turn: () => Promise<T>): Promise<T | undefined> {
    this.#session = session;
    this.#interruptedAt = undefined;
    try {
      return await this.unlessEnded(turn());
    } finally {
      this.#session = undefined;
    }
  }

  /** Waits for `work`. Ctrl-C ends the wait, but not the work: then this resolves with undefined. */
  async unlessEnded<T>(work: Promise<T>): Promise<T | undefined> {
    let stop = () => {};
    const ended = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
      if (this.ended.aborted) stop();
      else this.ended.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      this.ended.removeEventListener("abort", stop);
    }
  }

  /** Called when the chat is being closed. From then on a signal ends the process at once. */
  leave(): void {
    this.#isLeaving = true;
  }

  close(): void {
    process.off("SIGINT", this.#interrupt);
    process.off("SIGTERM", this.#terminate);
  }

  readonly #interrupt = (): void => {
    if (this.#isLeaving) return this.#end(130);
    const at = this.#interruptedAt;
    if (this.#session !== undefined && at === undefined) {
      this.#interruptedAt = Date.now();
      this.#say("\nInterrupting; Ctrl-C again leaves.");
      this.#session.interrupt();
    } else if (at === undefined || Date.now() - at > SAME_SIGNAL_MS) this.#end(130);
  };

  readonly #terminate = (): void => this.#end(143);

  #end(code: number): void {
    if (this.#isLeaving) return this.#exit(code);
    this.#exitCode ??= code;
    this.#ended.abort(new Error("interrupted"));
  }
}
