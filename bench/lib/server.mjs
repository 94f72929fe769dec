// A server under test on stdio, and a JSONL client that costs as little as possible: what is measured
// should be the server.
import { spawn } from "node:child_process";
import { killEach, killTree, trackChild } from "./cleanup.mjs";
import { processTree } from "./memory.mjs";

const STDERR_KEPT = 4000;
/** Thousands of threads are closed one by one, and what a host that was killed has left slows down the next one. */
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

/** A spawned server process: its end is noticed, its stderr kept for error messages, its tree killed. */
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
      this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    });
    // A server that dies with our request unread breaks the pipe; its exit tells the story.
    this.child.stdin?.on("error", () => {});
    /** Resolves with a sentence when the process has ended or could not be started. @type {Promise<string>} */
    this.ended = new Promise((resolve) => {
      this.child.once("error", (error) => resolve(`${command[0]} could not be started: ${error.message}`));
      // Both: stderr is complete at "close", but a stray descendant that holds the pipe may put that off.
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

  /** Asks the server to end (end of stdin, or SIGTERM without one), and makes it. Resolves when it has. */
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
    /** Pieces of a line that has not ended. @type {string[]} */
    let rest = [];
    this.child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      const lines = chunk.split("\n");
      // A long line comes in many pieces: it is put together once, and not with each of them.
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
    // The peer leaves the id out of some errors; calls are made one after the other where that matters.
    const id = /** @type {number} */ (frame.id ?? this.pending.keys().next().value);
    const call = this.pending.get(id);
    this.pending.delete(id);
    call?.resolve(frame);
  }

  /**
   * Sends a request and resolves with the whole reply frame, an error's too.
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
   * A call whose error is a failure of the measure, bounded in time.
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
   * The next notification of that name that matches. Ask for it before sending what causes it.
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
    // Whoever asked may fail before it comes to await this.
    bounded.catch(() => {});
    return bounded;
  }
}

/** The line of stderr that is most likely to say what went wrong. @param {string} stderr */
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
