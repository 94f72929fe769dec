import type { Readable, Writable } from "node:stream";
import { type CloseReason, type Frame, LineSplitter, type Link, type LinkEvents } from "@bobbin/rpc";
import type { Accept, Listener } from "./listener.ts";

export interface StdioOptions {
  readonly accept: Accept;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

const DEFAULT_GRACE_MS = 5_000;
const SENDING_CHARACTERS = 64 * 1024;

/**
 * The client on stdin and stdout, with JSON lines. When stdin ends, `closed` is reported. The client may still read,
 * so messages are written until the link is closed.
 */
export function listenStdio(options: StdioOptions): Listener {
  const link = new StdioLink(options.stdin ?? process.stdin, options.stdout ?? process.stdout);
  link.begin(options.accept(link, { transport: "stdio", principal: { kind: "local" } }));
  return {
    url: "stdio://",
    close: (graceMs) => link.leave(graceMs),
  };
}

class StdioLink implements Link {
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  #events: LinkEvents | undefined;
  /** `reported`: the connection was notified that the client is gone. `over`: nothing more is written. */
  #state: "open" | "reported" | "over" = "open";
  #reading = true;
  #backlogged = false;
  /**
   * The messages of this tick. A reply and its notifications are written together, because each write wakes the
   * reading process.
   */
  #sending = "";
  #ending = false;
  #over!: () => void;
  readonly #lines = new LineSplitter({
    line: (text) => this.#events?.message(text),
    oversized: (bytes) => this.#events?.oversized(bytes),
    undecodable: () => this.#events?.undecodable(),
  });
  readonly #onData = (chunk: Buffer): void => this.#lines.push(chunk);
  readonly #isOver = new Promise<void>((resolve) => {
    this.#over = resolve;
  });

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
  }

  get backlog(): number {
    return this.#state === "over" ? 0 : this.#stdout.writableLength + this.#sending.length;
  }

  begin(events: LinkEvents): void {
    this.#events = events;
    this.#stdin.on("data", this.#onData);
    this.#stdin.once("end", () => {
      this.#lines.end();
      this.#tellClosed();
    });
    // Some streams emit only `close`, or fail with EIO when the terminal disappears.
    this.#stdin.once("close", () => this.#tellClosed());
    this.#stdin.on("error", () => this.#tellClosed());
    // EPIPE means that the reader is gone. Without a listener, the error would end the process.
    this.#stdout.on("error", () => this.#finish());
    this.#stdout.once("close", () => this.#finish());
  }

  send(frame: Frame): void {
    if (this.#state === "over" || this.#ending) return;
    this.#backlogged = true;
    // Written after all other work of this tick, so that a model call does not wait while the client process wakes
    // up.
    if (this.#sending === "") process.nextTick(process.nextTick, this.#write);
    this.#sending += frame.lines;
    // A string has a maximum length, and a large batch need not wait for more messages.
    if (this.#sending.length > SENDING_CHARACTERS) this.#write();
  }

  pause(): void {
    if (!this.#reading || this.#state !== "open") return;
    this.#reading = false;
    this.#stdin.pause();
  }

  resume(): void {
    if (this.#reading || this.#state !== "open") return;
    this.#reading = true;
    this.#stdin.resume();
  }

  close(_reason: CloseReason, graceMs = DEFAULT_GRACE_MS): Promise<void> {
    if (this.#state === "over") return this.#isOver;
    if (!this.#ending) {
      this.#ending = true;
      this.#write();
      this.#stopReading();
      this.#stdout.end(() => this.#finish());
    }
    this.#cutAfter(graceMs);
    return this.#isOver;
  }

  /** Closes the listener. No other client has to be refused, so only the grace time applies. */
  leave(graceMs: number): Promise<void> {
    if (this.#state !== "over") this.#cutAfter(graceMs);
    return this.#isOver;
  }

  readonly #write = (): void => {
    const text = this.#sending;
    this.#sending = "";
    // The reader may have disconnected in between.
    if (text !== "" && this.#state !== "over") this.#stdout.write(text, this.#written);
  };

  readonly #written = (): void => {
    if (!this.#backlogged || this.backlog > 0) return;
    this.#backlogged = false;
    this.#events?.drained();
  };

  #cutAfter(graceMs: number): void {
    if (graceMs <= 0) this.#finish();
    else setTimeout(() => this.#finish(), graceMs).unref();
  }

  #stopReading(): void {
    this.#stdin.off("data", this.#onData);
    // Paused, because a stdin that is being read keeps the process alive.
    this.#stdin.pause();
  }

  #tellClosed(): void {
    if (this.#state !== "open") return;
    this.#state = "reported";
    const events = this.#events;
    this.#events = undefined;
    events?.closed();
  }

  #finish(): void {
    if (this.#state === "over") return;
    this.#stopReading();
    this.#tellClosed();
    this.#state = "over";
    this.#over();
  }
}
