import { nodeSpawn } from "../../packages/host/src/platform/node-spawn.ts";
import type { ProgramExit, RunningProgram } from "../../packages/host/src/platform/platform.ts";
import { eventually } from "./eventually.ts";
import { atFileEnd } from "./file-end.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /\x1b\[[0-9;]*m/g;

const running = new Set<RunningProgram>();
atFileEnd(() => {
  for (const program of running) program.signal("SIGKILL");
});

/** A program on a terminal, and a user at the keyboard. */
export class TerminalRun {
  readonly #program: RunningProgram;
  /** Everything that the program has shown, with plain line ends and without colours. */
  shown = "";
  /** The same as it came. */
  raw = "";
  readonly ended: Promise<ProgramExit>;

  private constructor(program: RunningProgram) {
    this.#program = program;
    running.add(program);
    const read = this.#read();
    this.ended = program.exited.then(async (exit) => {
      await read;
      running.delete(program);
      return exit;
    });
  }

  static async start(
    argv: readonly [string, ...string[]],
    {
      cwd,
      env,
      cols = 200,
    }: {
      readonly cwd: string;
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly cols?: number;
    },
  ): Promise<TerminalRun> {
    const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const tty = { cols, rows: 50 };
    const program = await nodeSpawn({ argv, cwd, env: Object.fromEntries(set), stdin: "open", tty });
    if (!program.tty) throw new Error("there is no terminal on this machine");
    return new TerminalRun(program);
  }

  /** Waits until a text was shown `times` times. */
  async shows(what: string, times = 1, patienceMs?: number): Promise<void> {
    const isShown = () => this.shown.split(what).length > times;
    await eventually(isShown, `it shows ${JSON.stringify(what)}`, patienceMs).catch((cause: Error) => {
      throw new Error(`${cause.message}\n${this.shown}`);
    });
  }

  async type(text: string): Promise<void> {
    await this.#program.write(Buffer.from(text));
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const { bytes } of this.#program.output) {
      const text = decoder.decode(bytes, { stream: true });
      this.raw += text;
      this.shown += text.replaceAll("\r", "").replace(COLOUR, "");
    }
  }
}
