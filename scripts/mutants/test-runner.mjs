// Runs test files in a process that stays loaded, and ends that process when a test hangs.
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PROCESS = fileURLToPath(new URL("./test-process.mjs", import.meta.url));

/** A test may be silent for this long, and for this many times as long as its file took on the unchanged code. */
const SILENT_MS = 60_000;
const SILENT_TIMES = 10;

export class TestRunner {
  #tree;
  #env;
  #child;
  #settle = () => {};
  #limit;
  /** The test files of which something was heard in this run, in order. */
  #heard = new Set();
  /** Files of which the process may have compiled another version: the one of an earlier run. */
  #compiled = new Set();
  #silentMs = () => SILENT_MS;

  constructor(tree, env = {}) {
    this.#tree = tree;
    this.#env = env;
  }

  /** Starts the process, and returns the test files that it knows. */
  async start() {
    if (this.#child !== undefined) return [];
    this.#child = spawn(process.execPath, [PROCESS], {
      cwd: this.#tree,
      env: {
        ...process.env,
        // The tests run no program, so nothing is built.
        BOBBIN_BIN: "bin/bobbin",
        BOBBIN_FULL: undefined,
        // The process is killed, so it cannot take away what it makes. The folder around the tree is removed.
        TMPDIR: dirname(this.#tree),
        ...this.#env,
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true,
    });
    this.#child.on("message", (message) => {
      if (message.at === undefined) return this.#settle(message);
      this.#heard.delete(message.at);
      this.#heard.add(message.at);
      this.#wait(message.at);
    });
    this.#child.on("exit", () => this.#settle({ error: "the test process ended" }));
    const { ready, error } = await this.#reply(() => SILENT_MS * 5);
    if (ready === undefined) throw new Error(`vitest does not start: ${error ?? "no reply"}`);
    return ready;
  }

  /**
   * Runs test files until one fails, after the `changed` file was written. `usualMs` gives the time that a test file
   * takes on the unchanged code. `hangs` is the file that was silent for too long.
   *
   * @returns {Promise<{ failed: { file, title, ms, message } | null, passed: Record<string, number>, hangs?: string }>}
   */
  async run(files, changed, { usualMs = () => 0, factor = 1 } = {}) {
    await this.start();
    this.#heard.clear();
    if (changed !== undefined) this.#compiled.add(changed);
    this.#child.send({ files, changed: [...this.#compiled] });
    this.#compiled = new Set(changed === undefined ? [] : [changed]);
    const reply = await this.#reply((test) => (SILENT_MS + SILENT_TIMES * usualMs(test)) * factor);
    if (reply.hangs || reply.error !== undefined) this.close();
    if (reply.hangs) {
      const [hangs = files[0], ...before] = [...this.#heard].reverse();
      return { failed: null, passed: Object.fromEntries(before.map((file) => [file, 0])), hangs };
    }
    if (reply.error === undefined) return reply;
    const failed = {
      file: files[0],
      title: "the run ends with an error",
      ms: Infinity,
      message: reply.error,
    };
    return { failed, passed: {} };
  }

  close() {
    const child = this.#child;
    this.#child = undefined;
    this.#settle = () => {};
    clearTimeout(this.#limit);
    if (child?.pid === undefined) return;
    child.removeAllListeners("exit");
    try {
      // The process leads a group of its own, which its workers are in.
      process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }

  #reply(silentMs) {
    this.#silentMs = silentMs;
    return new Promise((resolve) => {
      this.#settle = (message) => {
        clearTimeout(this.#limit);
        resolve(message);
      };
      this.#wait(undefined);
    });
  }

  #wait(test) {
    clearTimeout(this.#limit);
    const settle = this.#settle;
    this.#limit = setTimeout(() => settle({ hangs: true }), this.#silentMs(test));
  }
}
