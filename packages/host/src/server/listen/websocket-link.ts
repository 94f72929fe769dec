import { isUtf8 } from "node:buffer";
import type { Socket } from "node:net";
import { type CloseReason, type Frame, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { WebSocket } from "ws";

const DEFAULT_GRACE_MS = 5_000;
/**
 * How long a message that is not urgent is delayed, so that one write sends it together with others: the write costs
 * more than everything else.
 */
const WAIT_MS = 20;
/** Number of unanswered pings after which a client counts as gone. */
const MAX_MISSED_PINGS = 2;

const CLOSE_CODES: Record<CloseReason, number> = { normal: 1000, shutdown: 1001, protocol: 1002, slow: 1013 };

/**
 * One WebSocket client. The `ws` package reads, and handles control frames. This class writes messages directly to the
 * socket, in the encoding that all receivers of a frame share. Both write only whole frames at once, so that their
 * frames cannot interleave. Compression is off, because with compression `ws` would write later.
 *
 * A message over the limit closes the connection with code 1009, as WebSocket clients expect. Skipping it would
 * need a reader of our own.
 */
export class WebSocketLink implements Link {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  #events: LinkEvents | undefined;
  #state: "open" | "closing" | "closed" = "open";
  #corked = false;
  /** Set while only messages that are not urgent are corked. */
  #waiting: NodeJS.Timeout | undefined;
  #backlogged = false;
  #missedPings = 0;
  #signsOfLife = -1;
  #gone!: () => void;
  readonly gone = new Promise<void>((resolve) => {
    this.#gone = resolve;
  });

  constructor(ws: WebSocket, socket: Socket) {
    this.#ws = ws;
    this.#socket = socket;
  }

  get backlog(): number {
    return this.#state === "closed" ? 0 : this.#socket.writableLength;
  }

  begin(events: LinkEvents): void {
    this.#events = events;
    this.#ws.on("message", (data: Buffer, binary: boolean) => {
      if (this.#state !== "open") return;
      if (binary || !isUtf8(data)) this.#events?.undecodable();
      else this.#events?.message(data.toString());
    });
    this.#ws.on("error", (error: Error & { code?: string }) => {
      const tooLong =
        error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" ||
        error.code === "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH";
      if (tooLong && this.#state === "open") this.#events?.oversized(MAX_MESSAGE_BYTES + 1);
    });
    this.#ws.once("close", () => {
      this.#state = "closed";
      const events = this.#events;
      this.#events = undefined;
      events?.closed();
      this.#gone();
    });
  }

  send(frame: Frame, mayWait = false): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    const idle = !this.#corked;
    if (idle) {
      this.#corked = true;
      this.#socket.cork();
    }
    if (mayWait && idle) this.#waiting = setTimeout(this.#uncork, WAIT_MS);
    else if (!mayWait && (idle || this.#waiting !== undefined)) {
      clearTimeout(this.#waiting);
      this.#waiting = undefined;
      // Written after all other work of this tick, so that a model call does not wait while client processes wake up.
      process.nextTick(process.nextTick, this.#uncork);
    }
    this.#backlogged = true;
    this.#socket.write(frame.websocket, this.#written);
  }

  pause(): void {
    if (this.#state === "open") this.#ws.pause();
  }

  resume(): void {
    if (this.#state === "open") this.#ws.resume();
  }

  close(reason: CloseReason, graceMs = DEFAULT_GRACE_MS): Promise<void> {
    if (this.#state === "open") {
      this.#state = "closing";
      // Resumed even if messages were paused, because the client's close frame must be read.
      this.#ws.resume();
      this.#ws.close(CLOSE_CODES[reason], reason);
    }
    if (this.#state === "closing") this.cutAfter(graceMs);
    return this.gone;
  }

  /** Cuts the connection after `graceMs` if it is still open. */
  cutAfter(graceMs: number): void {
    if (graceMs <= 0) this.#ws.terminate();
    else setTimeout(() => this.#ws.terminate(), graceMs).unref();
  }

  /**
   * Called at intervals. Pings keep proxies from dropping an idle connection. With `reap`, a connection without any
   * traffic for several intervals is cut; TCP alone would notice the loss much later.
   */
  ping(reap: boolean): void {
    if (this.#ws.readyState !== WebSocket.OPEN || this.#ws.isPaused) return;
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    // Pings wait behind a backlog. Then a shrinking backlog shows that the client is alive.
    const signs = writableLength === 0 ? bytesRead : bytesRead + bytesWritten - writableLength;
    if (signs !== this.#signsOfLife) this.#missedPings = 0;
    else if (++this.#missedPings >= MAX_MISSED_PINGS && reap) {
      this.#ws.terminate();
      return;
    }
    this.#signsOfLife = signs;
    if (writableLength === 0) this.#ws.ping();
  }

  readonly #uncork = (): void => {
    this.#corked = false;
    this.#waiting = undefined;
    this.#socket.uncork();
  };

  readonly #written = (): void => {
    if (!this.#backlogged || this.#socket.writableLength > 0) return;
    this.#backlogged = false;
    this.#events?.drained();
  };
}
