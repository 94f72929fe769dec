import type { Readable, Writable } from "node:stream";
import { type CloseReason, type Frame, LineSplitter, type Link, type LinkEvents } from "@bobbin/rpc";
import type { Accept, Door } from "./door.ts";

export interface StdioOptions {
  readonly accept: Accept;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

const DEFAULT_GRACE_MS = 5_000;
const SENDING_CHARACTERS = 64 * 1024;

/**
 * The process's own client, JSON lines on stdin and stdout. When stdin ends the client has said all it will
 * and `closed` is told, but it may still be reading: what is sent is written until the link is closed.
 */
export function listenStdio(options: StdioOptions): Door {
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
  /** `told`: the connection knows that the client is gone; `over`: nothing more is written either. */
  #state: "open" | "told" | "over" = "open";
  #reading = true;
  #backlogged = false;
  /** Sent in this tick: a reply and what it caused go out in one write, because each one wakes the reader. */
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
    // Some streams only close, or fail with EIO when the terminal goes away.
    this.#stdin.once("close", () => this.#tellClosed());
    this.#stdin.on("error", () => this.#tellClosed());
    // EPIPE: nobody reads any more. Without a listener it would end the process.
    this.#stdout.on("error", () => this.#finish());
    this.#stdout.once("close", () => this.#finish());
  }

  send(frame: Frame): void {
    if (this.#state === "over" || this.#ending) return;
    this.#backlogged = true;
    // Behind what else is sent in this tick: a model that is called should not wait for our client to wake up.
    if (this.#sending === "") process.nextTick(process.nextTick, this.#write);
    this.#sending += frame.lines;
    // Strings have their limits, and so has what is worth waiting for.
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

  /** The door's close: there is no second client to turn away, so only the grace is left to watch. */
  leave(graceMs: number): Promise<void> {
    if (this.#state !== "over") this.#cutAfter(graceMs);
    return this.#isOver;
  }

  readonly #write = (): void => {
    const text = this.#sending;
    this.#sending = "";
    // Whoever has gone meanwhile takes nothing any more.
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
    // A stdin that is being read keeps the process alive.
    this.#stdin.pause();
  }

  #tellClosed(): void {
    if (this.#state !== "open") return;
    this.#state = "told";
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
