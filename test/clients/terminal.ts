import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually } from "../support/eventually.ts";
import { afterWorking, PATIENCE_MS, workedMs } from "../support/patience.ts";

const run = promisify(execFile);

/** A program in a terminal of its own, with somebody at the keyboard. */
export class Terminal {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** `folder` is where the program starts; `socket` is a path that is not there yet. */
  static async open(
    socket: string,
    command: readonly string[],
    options: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<Terminal> {
    const terminal = new Terminal(socket);
    const env = Object.entries(options.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    // Its exit code stays on the screen; `cat` keeps the terminal open for whoever reads it.
    const shell = `${command.map(quoted).join(" ")}; echo "left with $?"; exec cat`;
    const size = ["-x", "220", "-y", "60"];
    await terminal.#tmux("new-session", "-d", ...size, "-c", options.folder, ...env, "sh", "-c", shell);
    return terminal;
  }

  /** Types a line and sends it off once it can be seen. */
  async say(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
    await this.shows(text);
    await this.press("Enter");
  }

  /** Types letters, and sends nothing off. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
  }

  async press(key: string): Promise<void> {
    await this.#tmux("send-keys", key);
  }

  /** Presses a key until the screen no longer shows the question: a program that has just drawn it may drop keys. */
  async answer(question: RegExp, key: string): Promise<void> {
    const asked = async (): Promise<boolean> =>
      question.test((await this.#tmux("capture-pane", "-p", "-J")).stdout);
    const PRESS_EVERY_MS = 2_000;
    let pressed = Number.NEGATIVE_INFINITY;
    await eventually(async () => {
      if (!(await asked())) return true;
      if (workedMs() - pressed < PRESS_EVERY_MS) return false;
      pressed = workedMs();
      await this.press(key);
      return false;
    }, `the answer ${key} to ${question} is taken`);
  }

  /** What has been on the screen since it was opened; lines that were broken at its edge are whole. */
  async screen(): Promise<string> {
    return (await this.#tmux("capture-pane", "-p", "-J", "-S", "-")).stdout;
  }

  /** Waits until the screen shows it, and gives what it showed. */
  async shows(what: string | RegExp): Promise<string> {
    let screen = "";
    const there = async (): Promise<boolean> => {
      screen = await this.screen();
      return typeof what === "string" ? screen.includes(what) : what.test(screen);
    };
    await eventually(there, `the terminal shows ${what}`).catch((cause: Error) => {
      throw new Error(`${cause.message}\n${screen}`);
    });
    return screen;
  }

  /** Waits until what is to be seen right now no longer has it. */
  async gone(what: RegExp): Promise<void> {
    const seen = async (): Promise<string> => (await this.#tmux("capture-pane", "-p", "-J")).stdout;
    await eventually(async () => !what.test(await seen()), `the terminal no longer shows ${what}`);
  }

  async close(): Promise<void> {
    // It may have ended by itself.
    await this.#tmux("kill-server").catch(() => {});
  }

  async #tmux(...args: string[]): Promise<{ stdout: string }> {
    const stop = new AbortController();
    const cancel = afterWorking(PATIENCE_MS, () => stop.abort());
    try {
      return await run("tmux", ["-S", this.#socket, "-f", "/dev/null", ...args], { signal: stop.signal });
    } finally {
      cancel();
    }
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
