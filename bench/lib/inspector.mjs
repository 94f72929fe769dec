// Counts the live objects of a Node program that was started with `--inspect`, after a garbage collection.
import { once } from "node:events";
import WebSocket from "ws";
import { within } from "./server-process.mjs";

/** Environment variables of a program that is to be inspected. */
export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/**
 * @typedef {object} Residue what remains after a garbage collection
 * @property {number} heap bytes of the JavaScript heap, buffers included
 * @property {Record<string, number>} counts numbers of timers, emitters, listeners and other things that a leak leaves behind
 */

/** Code that runs in the inspected program: `count` is called with an array of all objects that have `prototype`. */
const KINDS = {
  timers: {
    prototype: "Object.getPrototypeOf(setTimeout(() => {}, 0).unref())",
    count: "function () { return { timers: this.length } }",
  },
  emitters: {
    // The prototype of EventEmitter, found through `process`. Streams, sockets and servers have it too.
    prototype: "Object.getPrototypeOf(Object.getPrototypeOf(process))",
    count: `function () {
      let listeners = 0;
      for (const emitter of this) {
        const events = Object.hasOwn(emitter, "_events") ? emitter._events : undefined;
        for (const name of Reflect.ownKeys(events ?? {})) {
          const one = events[name];
          listeners += Array.isArray(one) ? one.length : one === undefined ? 0 : 1;
        }
      }
      return { emitters: this.length, "listeners of emitters": listeners };
    }`,
  },
  targets: {
    prototype: "EventTarget.prototype",
    count: `function () {
      let listeners = 0;
      for (const target of this) {
        const kept = Object.getOwnPropertySymbols(target).find((key) => key.description === "kEvents");
        for (const root of target[kept]?.values?.() ?? []) listeners += root.size ?? 0;
      }
      return { "abort signals and the like": this.length, "listeners of signals": listeners };
    }`,
  },
  promises: { prototype: "Promise.prototype", count: "function () { return { promises: this.length } }" },
};

/** Number of active resources of the event loop, by type. */
const RESOURCES = `process.getActiveResourcesInfo().reduce((all, kind) => {
  all[kind] = (all[kind] ?? 0) + 1;
  return all;
}, {})`;
const HEAP = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

export class Inspector {
  #socket;
  #lastId = 0;
  /** @type {Map<number, (frame: any) => void>} */
  #waiting = new Map();

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString());
      this.#waiting.get(frame.id)?.(frame);
      this.#waiting.delete(frame.id);
    });
  }

  /** @param {() => string} stderr what the program has written there so far */
  static async connect(stderr) {
    const url = /Debugger listening on (ws:\/\/\S+)/.exec(stderr())?.[1];
    if (url === undefined) throw new Error("the program has no inspector");
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 });
    await within(5_000, "the inspector did not answer", once(socket, "open"));
    return new Inspector(socket);
  }

  /** @returns {Promise<Residue>} */
  async residue() {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const kind of Object.values(KINDS)) Object.assign(counts, await this.#count(kind));
    Object.assign(counts, await this.#value(RESOURCES));
    // The heap is measured last, after a collection, because the counting itself creates objects.
    await this.#call("Runtime.releaseObjectGroup", { objectGroup: "residue" });
    await this.#call("HeapProfiler.collectGarbage");
    return { heap: await this.#value(HEAP), counts };
  }

  /** Number of event emitters (connections, streams, servers). Quicker than `residue`. */
  async emitters() {
    return Number((await this.#count(KINDS.emitters)).emitters);
  }

  close() {
    this.#socket.terminate();
  }

  /**
   * @param {{ prototype: string, count: string }} kind
   * @returns {Promise<Record<string, number>>}
   */
  async #count({ prototype, count }) {
    const objectGroup = "residue";
    const { result } = await this.#call("Runtime.evaluate", { expression: prototype, objectGroup });
    const { objects } = await this.#call("Runtime.queryObjects", {
      prototypeObjectId: result.objectId,
      objectGroup,
    });
    const counted = await this.#call("Runtime.callFunctionOn", {
      functionDeclaration: count,
      objectId: objects.objectId,
      returnByValue: true,
    });
    return counted.result.value;
  }

  /** @param {string} expression */
  async #value(expression) {
    return (await this.#call("Runtime.evaluate", { expression, returnByValue: true })).result.value;
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  async #call(method, params = {}) {
    const id = ++this.#lastId;
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await within(60_000, `${method} was not answered`, answered);
    if (error ?? result.exceptionDetails) {
      throw new Error(`${method}: ${error?.message ?? result.exceptionDetails.exception?.description}`);
    }
    return result;
  }
}
