// A WebSocket client that spends almost no time on incoming data, so that many of them on one machine still measure the
// server. It recognizes replies and the end of a turn by their bytes, and parses no delta.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { initializeParams, within } from "./server-process.mjs";

export class RawSubscriber {
  #socket;
  #nextId = 1;
  /** The last received bytes, because a searched text may be split between chunks. */
  #tail = Buffer.alloc(0);
  /** @type {{ needle: string, found: () => void } | undefined} */
  #wanted;
  /** Number of received bytes. */
  bytes = 0;

  /** @param {import("node:net").Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (/** @type {Buffer} */ chunk) => this.#take(chunk)).on("error", () => {});
  }

  /** Connects and initializes. @param {string} url */
  static async connect(url) {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await within(5_000, "no connection", once(socket, "connect"));
    const subscriber = new RawSubscriber(socket);
    const upgraded = subscriber.seen("\r\n\r\n");
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
    );
    await upgraded;
    await subscriber.request("initialize", initializeParams);
    subscriber.#send({ method: "initialized" });
    return subscriber;
  }

  /**
   * Resolves when the start of a successful reply has arrived. The result is not parsed.
   * @param {string} method
   * @param {unknown} params
   */
  request(method, params) {
    const id = this.#nextId++;
    const replied = this.seen(`{"id":${id},"result"`);
    this.#send({ id, method, params });
    return replied;
  }

  /** Sends a request and ignores its reply. @param {string} method @param {unknown} params */
  post(method, params) {
    this.#send({ id: this.#nextId++, method, params });
  }

  /** Resolves when a text has arrived. @param {string} needle @param {number} [atMostMs] */
  seen(needle, atMostMs = 30_000) {
    /** @type {Promise<void>} */
    const found = new Promise((resolve) => {
      this.#wanted = { needle, found: resolve };
    });
    return within(atMostMs, `${needle} did not come`, found);
  }

  close() {
    this.#socket.destroy();
  }

  /** @param {Buffer} chunk */
  #take(chunk) {
    this.bytes += chunk.length;
    if (this.#wanted === undefined) return;
    const { needle, found } = this.#wanted;
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, needle.length)]);
    if (chunk.includes(needle) || seam.includes(needle)) {
      this.#wanted = undefined;
      this.#tail = Buffer.alloc(0);
      found();
    } else
      this.#tail = Buffer.from(
        Buffer.concat([this.#tail, chunk.subarray(-needle.length)]).subarray(-needle.length),
      );
  }

  /** Clients must mask their frames. A mask of zeros leaves the payload unchanged. @param {object} message */
  #send(message) {
    const payload = Buffer.from(JSON.stringify(message));
    const head = Buffer.alloc(8);
    head[0] = 0x81;
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
    this.#socket.write(Buffer.concat([head, payload]));
  }
}
