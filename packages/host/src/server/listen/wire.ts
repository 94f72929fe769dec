import { isUtf8 } from "node:buffer";
import type { Socket } from "node:net";
import { type CloseReason, type Frame, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { WebSocket } from "ws";

const DEFAULT_GRACE_MS = 5_000;
/** How long a message may wait for others that is in no hurry: a write for each costs more than all else about it. */
const WAIT_MS = 20;
/** A client that hears nothing but pings answers at least one of this many. */
const MAX_MISSED_PINGS = 2;

const CLOSE_CODES: Record<CloseReason, number> = { normal: 1000, shutdown: 1001, protocol: 1002, slow: 1013 };

/**
 * One WebSocket client. `ws` reads and does the control frames; messages go straight to the socket in the
 * form that all receivers of a frame share. Both only ever write whole frames (compression is off, which is
 * what would make `ws` write later), so they cannot interleave.
 *
 * A message over the limit ends this wire with close code 1009, as WebSocket clients expect, instead of being
 * skipped: its bytes would have to be read and dropped by a reader of our own.
 */
export class WebSocketLink implements Link {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  #events: LinkEvents | undefined;
  #state: "open" | "closing" | "closed" = "open";
  #corked = false;
  /** Set while nothing that is corked is in a hurry. */
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
      // Behind what else is sent in this tick: a model that is called should not wait for our clients to wake up.
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
      // The client's half of the closing handshake has to be read even if its messages were not.
      this.#ws.resume();
      this.#ws.close(CLOSE_CODES[reason], reason);
    }
    if (this.#state === "closing") this.cutAfter(graceMs);
    return this.gone;
  }

  /** Ends the wire without ceremony if it is still there by then. */
  cutAfter(graceMs: number): void {
    if (graceMs <= 0) this.#ws.terminate();
    else setTimeout(() => this.#ws.terminate(), graceMs).unref();
  }

  /**
   * Called at intervals. Pings keep proxies from dropping an idle wire; `reap` also cuts one whose far end
   * moved no byte either way for several intervals, which TCP alone would notice only much later.
   */
  ping(reap: boolean): void {
    if (this.#ws.readyState !== WebSocket.OPEN || this.#ws.isPaused) return;
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    // With a backlog our pings wait behind it, and that it shrinks is the sign of life instead.
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
