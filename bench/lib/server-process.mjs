// A server process under test, and a JSONL client on its stdio that uses as little time as possible, so that the server
// is measured.
import { spawn } from "node:child_process";
import { killEach, killTree, trackChild } from "./cleanup.mjs";
import { processTree } from "./memory.mjs";

const MAX_STDERR_LENGTH = 4000;
/**
 * Time for a server to exit. Long, because it may have to close thousands of threads, and a killed host slows down the
 * next start.
 */
const GRACE_MS = 15_000;

export const initializeParams = {
  clientInfo: { name: "bobbin_bench", title: null, version: "0.1.0" },
  capabilities: { experimentalApi: true },
};

/**
 * @typedef {object} Frame
 * @property {number | string | null} [id]
 * @property {string} [method]
 * @property {any} [params]
 * @property {any} [result]
 * @property {{ code: number, message: string }} [error]
 */

/** A spawned server process. Collects its stderr for error messages, and ends with all its descendants. */
export class ServerProcess {
  /**
   * @param {string[]} command
   * @param {{ env: NodeJS.ProcessEnv, cwd: string, stdin: "pipe" | "ignore" }} options
   */
  constructor(command, { env, cwd, stdin }) {
    this.command = command;
    this.stderr = "";
    this.child = spawn(command[0], command.slice(1), { env, cwd, stdio: [stdin, "pipe", "pipe"] });
    trackChild(this.child);
    this.child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR_LENGTH);
    });
    // If the server dies, writing to its stdin fails. Its exit, handled below, has the reason.
    this.child.stdin?.on("error", () => {});
    /** Resolves with a sentence when the process has ended or could not be started. @type {Promise<string>} */
    this.ended = new Promise((resolve) => {
      this.child.once("error", (error) => resolve(`${command[0]} could not be started: ${error.message}`));
      // Waits for "close", because stderr is complete then, but not long: a descendant may hold the pipe open.
      const tell = (/** @type {number | null} */ code, /** @type {string | null} */ signal) =>
        resolve(`${command.join(" ")} ended with ${signal ?? `code ${code}`}${complaint(this.stderr)}`);
      this.child.once("close", tell);
      this.child.once("exit", (code, signal) => setTimeout(tell, 200, code, signal).unref());
    });
  }

  get pid() {
    if (this.child.pid === undefined) throw new Error(`${this.command[0]} is not running`);
    return this.child.pid;
  }

  /**
   * Ends the server by closing its stdin (or by SIGTERM without one), and kills it after a while. Resolves at its exit.
   */
  async close() {
    const descendants = this.child.pid === undefined ? [] : processTree(this.child.pid).slice(1);
    if (this.child.stdin) this.child.stdin.end();
    else this.child.kill("SIGTERM");
    const timer = setTimeout(() => killTree(this.child), GRACE_MS);
    await this.ended;
    clearTimeout(timer);
    killEach(descendants);
  }
}

export class StdioServer extends ServerProcess {
  /**
   * @param {string[]} command
   * @param {{ env: NodeJS.ProcessEnv, cwd: string }} options
   */
  constructor(command, options) {
    super(command, { ...options, stdin: "pipe" });
    this.nextId = 1;
    /** @type {Map<number, { resolve: (frame: Frame) => void, reject: (error: Error) => void }>} */
    this.pending = new Map();
    /** @type {Set<(frame: Frame) => void>} */
    this.listeners = new Set();
    /** @type {string | undefined} */
    this.endedBecause = undefined;
    /** Chunks of an incomplete line. @type {string[]} */
    let rest = [];
    this.child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      const lines = chunk.split("\n");
      // A long line arrives in many chunks, which are joined once at its end.
      const end = lines.pop() ?? "";
      if (lines.length > 0) {
        lines[0] = rest.join("") + lines[0];
        rest = [];
      }
      if (end !== "") rest.push(end);
      try {
        for (const line of lines) if (line) this.#receive(JSON.parse(line));
      } catch {
        this.#fail(`${command.join(" ")} wrote a line that is no JSON: ${lines.join(" | ").slice(0, 200)}`);
      }
    });
    void this.ended.then((sentence) => this.#fail(sentence));
  }

  /** @param {string} sentence */
  #fail(sentence) {
    this.endedBecause ??= sentence;
    for (const { reject } of this.pending.values()) reject(new Error(this.endedBecause));
    this.pending.clear();
  }

  /** @param {Frame} frame */
  #receive(frame) {
    if (frame.method !== undefined) {
      for (const listener of this.listeners) listener(frame);
      return;
    }
    // The Codex CLI omits the id of some error replies. They are then matched to the oldest pending call.
    const id = /** @type {number} */ (frame.id ?? this.pending.keys().next().value);
    const call = this.pending.get(id);
    this.pending.delete(id);
    call?.resolve(frame);
  }

  /**
   * Sends a request and resolves with the whole reply frame, also for an error reply.
   * @param {string} method
   * @param {unknown} [params]
   * @returns {Promise<Frame>}
   */
  call(method, params = {}) {
    if (this.endedBecause) return Promise.reject(new Error(this.endedBecause));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.child.stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  /**
   * Sends a request and resolves with its result. Rejects on an error reply, and after `atMostMs`.
   * @param {string} method
   * @param {unknown} [params]
   * @param {number} [atMostMs]
   */
  async request(method, params, atMostMs = 15_000) {
    const frame = await within(atMostMs, `${method} was not answered`, this.call(method, params));
    if (frame.error) throw new Error(`${method} was refused: ${frame.error.message.slice(0, 200)}`);
    return frame.result;
  }

  /** @param {string} method */
  notify(method) {
    this.child.stdin?.write(`${JSON.stringify({ method })}\n`);
  }

  async initialize() {
    const reply = await this.request("initialize", initializeParams);
    this.notify("initialized");
    return reply;
  }

  /**
   * Resolves with the params of the next matching notification. Call it before sending the request that causes it.
   * @param {string} method
   * @param {(params: any) => boolean} [matches]
   */
  notification(method, matches = () => true) {
    /** @type {(frame: Frame) => void} */
    let listener = () => {};
    const seen = new Promise((resolve, reject) => {
      listener = (frame) => {
        if (frame.method === method && matches(frame.params)) resolve(frame.params);
      };
      this.listeners.add(listener);
      void this.ended.then((sentence) => reject(new Error(sentence)));
    });
    const bounded = within(30_000, `${method} did not come`, seen).finally(() =>
      this.listeners.delete(listener),
    );
    // The caller may fail before it awaits this promise. That must not count as an unhandled rejection.
    bounded.catch(() => {});
    return bounded;
  }
}

/** The line of stderr that most likely contains the error. @param {string} stderr */
function complaint(stderr) {
  const lines = stderr.split("\n").filter((line) => line.trim());
  const line = lines.find((text) => /error|cannot|refused|denied/i.test(text)) ?? lines.at(-1);
  return line ? `: ${line.trim().slice(0, 300)}` : "";
}

/**
 * @template T
 * @param {number} ms
 * @param {string} complaint
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function within(ms, complaint, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, /** @type {Promise<never>} */ (late)]);
  } finally {
    clearTimeout(timer);
  }
}
