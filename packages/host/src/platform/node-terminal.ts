import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { Readable, Writable } from "node:stream";
import { ReadStream } from "node:tty";
import { noteExposed, openingOnly } from "./exposed-descriptors.ts";
import { inputFiles } from "./input-files.ts";
import { MarkedStream } from "./marked-stream.ts";
import { signalGroup, writeTo } from "./node-spawn.ts";
import { OutputPieces } from "./output-pieces.ts";
import type { ProgramExit, ProgramSignal, ProgramStart, RunningProgram } from "./platform.ts";

/** The native part of node-pty, used without its wrapper, which loses the end of the output. */
interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    exited: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

/** How long a terminal that takes nothing may hold up the end of its output. */
const MARK_MS = 1000;
const MARK_EVERY_MS = 20;

/** Starts a program on a terminal; undefined where this machine has no native part for that. */
export async function spawnOnTerminal(program: ProgramStart): Promise<RunningProgram | undefined> {
  const native = loadNative();
  if (native === undefined || program.tty === undefined) return undefined;
  const { pty, helper } = native;
  const files = await inputFiles(program.inputs ?? [], program.channel === true);
  const channel = files.channel?.stream;
  const argv = openingOnly(program.argv, files.paths, files.channel?.paths);
  if (argv === undefined) {
    channel?.destroy();
    await files.remove();
    return undefined;
  }
  const [file, ...args] = argv;
  const env = Object.entries({ TERM: "xterm-256color", ...program.env, PWD: program.cwd });
  const exit = new Deferred<ProgramExit>();
  const { cols, rows } = program.tty;
  let hasExited = false;
  const ended = (code: number, signal: number): void => {
    hasExited = true;
    exit.resolve({ code: signal === 0 ? code : null, signal: signal === 0 ? null : signalName(signal) });
  };
  const pairs = env.map(([name, value]) => `${name}=${value}`);
  const {
    fd,
    pid,
    pty: path,
  } = pty.fork(file!, args, pairs, program.cwd, cols, rows, -1, -1, true, helper, ended);
  const forget = noteExposed(fd);
  // Held open: without it, what was written and not read yet is lost when the program exits.
  const slave = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  const master = new ReadStream(fd);
  const marked = new MarkedStream(randomBytes(16).toString("hex"));
  master.on("error", () => marked.end()).pipe(marked);
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    forget();
    closeSync(slave);
    master.destroy();
    marked.end();
  };
  marked.once("marked", finish);
  const exited = exit.promise.then(async (how) => {
    channel?.destroy();
    await files.remove();
    writeMark(slave, marked.mark, () => over).catch(finish);
    return how;
  });
  const output = new OutputPieces({ stdout: marked as unknown as Readable });
  return {
    pid,
    tty: true,
    channel,
    output,
    stopReading: () => output.stop(finish),
    write: (bytes) => writeTo(over ? null : (master as unknown as Writable), bytes),
    // Ctrl-D: a terminal has no other end of input.
    endInput: () => void (over || (master as unknown as Writable).write(Uint8Array.of(4))),
    resize(size) {
      if (!over) pty.resize(fd, size.cols, size.rows);
    },
    signal(signal) {
      // A process that was made just now may not have its group yet. Its number is its own until its exit is known.
      if (!signalGroup(pid, signal) && !hasExited) signalProcess(pid, signal);
    },
    exited,
  };
}

/** Puts the mark behind the last output. Rejects when the terminal does not take it, because it was stopped, say. */
async function writeMark(slave: number, mark: string, over: () => boolean): Promise<void> {
  let left = Buffer.from(mark);
  for (let waited = 0; left.length > 0 && !over(); waited += MARK_EVERY_MS) {
    if (waited > MARK_MS) throw new Error("the terminal takes nothing");
    try {
      left = left.subarray(writeSync(slave, left));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EAGAIN") throw cause;
    }
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, MARK_EVERY_MS).unref());
  }
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  6: "SIGABRT",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};

function signalProcess(pid: number, signal: ProgramSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}

function signalName(number: number): string {
  return SIGNALS[number] ?? `signal ${number}`;
}

class Deferred<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => {
    this.resolve = resolve;
  });
}

let loaded: { readonly pty: NativePty; readonly helper: string } | null | undefined;

function loadNative(): { readonly pty: NativePty; readonly helper: string } | undefined {
  if (loaded === undefined) {
    const name = `@lydell/node-pty-${process.platform}-${process.arch}`;
    try {
      const load = createRequire(typeof __filename === "string" ? __filename : import.meta.url);
      const helper = process.platform === "darwin" ? load.resolve(`${name}/spawn-helper`) : "";
      loaded = { pty: load(`${name}/pty.node`) as NativePty, helper };
    } catch {
      loaded = null;
    }
  }
  return loaded ?? undefined;
}
