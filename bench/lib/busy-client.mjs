// A WebSocket client for many concurrent requests. It has one listener for all of them, and parses a notification only
// if its method has a listener.

import { within } from "./server-process.mjs";
import { connectClient } from "./socket-server.mjs";

const REPLY = /^\{"id":(\d+),/;
const REFUSAL = /,"id":(\d+)\}$/;

export class BusyClient {
  #socket;
  #nextId = 2;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (why: Error) => void }>} */
  #pending = new Map();
  /** @type {Map<string, (params: any) => void>} */
  #listeners = new Map();

  /** @param {import("ws").WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#take(data.toString()));
  }

  /** Connects and initializes. @param {string} url */
  static async connect(url) {
    return new BusyClient(await connectClient(url));
  }

  /**
   * Calls `heard` with the params of every notification of a method.
   * @param {string} method
   * @param {(params: any) => void} heard
   */
  on(method, heard) {
    this.#listeners.set(method, heard);
  }

  /**
   * @param {string} method
   * @param {unknown} params
   * @param {number} [atMostMs]
   * @returns {Promise<any>}
   */
  request(method, params, atMostMs = 60_000) {
    const id = this.#nextId++;
    const reply = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return within(atMostMs, `${method} was not answered`, reply);
  }

  close() {
    this.#socket.terminate();
  }

  /** @param {string} text */
  #take(text) {
    const id = Number(REPLY.exec(text)?.[1] ?? (text.startsWith('{"error"') ? REFUSAL.exec(text)?.[1] : 0));
    if (id > 0) {
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      const { result, error } = JSON.parse(text);
      if (error) waiting?.reject(new Error(`request ${id} was refused: ${error.message}`));
      else waiting?.resolve(result);
      return;
    }
    const method = /^\{"method":"([^"]+)"/.exec(text)?.[1] ?? "";
    const heard = this.#listeners.get(method);
    if (heard !== undefined) heard(JSON.parse(text).params);
  }
}
