import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { Readable, Writable } from "node:stream";
import { ReadStream } from "node:tty";
import { EndMarkerStream } from "./end-marker-stream.ts";
import { commandOpeningFiles, registerInheritable } from "./inherited-descriptors.ts";
import type { ProgramExit, ProgramSignal, ProgramStart, RunningProgram } from "./platform.ts";
import { signalGroup, writeTo } from "./program-input-and-signals.ts";
import { inputFiles } from "./program-input-files.ts";
import { ProgramOutput } from "./program-output.ts";

/** The native addon of node-pty. Its JavaScript wrapper is not used, because that loses the end of the output. */
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

/** How long a PTY that accepts no bytes may delay the end of its output. */
const MARK_MS = 1000;
const MARK_EVERY_MS = 20;

/** Starts a program on a PTY; undefined where no native addon for this machine is installed. */
export async function spawnOnTerminal(program: ProgramStart): Promise<RunningProgram | undefined> {
  const native = loadNative();
  if (native === undefined || program.tty === undefined) return undefined;
  const { pty, helper } = native;
  const files = await inputFiles(program.inputs ?? [], program.channel === true);
  const channel = files.channel?.stream;
  const env = { TERM: "xterm-256color", ...program.env, PWD: program.cwd };
  const argv = commandOpeningFiles({ argv: program.argv, env }, files.paths, {
    ...(files.channel !== undefined && { channel: files.channel.paths }),
    // A path in /proc/PID/fd leads to what the descriptor holds, even if that was renamed.
    held: (program.descriptors ?? []).map((descriptor) => `/proc/${process.pid}/fd/${descriptor}`),
  });
  if (argv === undefined) {
    channel?.destroy();
    await files.remove();
    return undefined;
  }
  const [file, ...args] = argv;
  const exit = new Deferred<ProgramExit>();
  const { cols, rows } = program.tty;
  let hasExited = false;
  const ended = (code: number, signal: number): void => {
    hasExited = true;
    exit.resolve({ code: signal === 0 ? code : null, signal: signal === 0 ? null : signalName(signal) });
  };
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const {
    fd,
    pid,
    pty: path,
  } = pty.fork(file!, args, pairs, program.cwd, cols, rows, -1, -1, true, helper, ended);
  const forget = registerInheritable(fd);
  // The host keeps the program's end of the PTY open. If it closed with the program, output that was written but not
  // yet read would be lost.
  const slave = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  const master = new ReadStream(fd);
  const marked = new EndMarkerStream(randomBytes(16).toString("hex"));
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
    const isFull = (): boolean => marked.writableNeedDrain;
    writeMark(slave, marked.mark, { isOver: () => over, isFull }).catch(finish);
    return how;
  });
  const output = new ProgramOutput({ stdout: marked as unknown as Readable });
  return {
    pid,
    tty: true,
    channel,
    output,
    stopReading: () => output.stop(finish),
    write: (bytes) => writeTo(hasExited ? null : (master as unknown as Writable), bytes),
    // Ctrl-D is the only way to end a terminal's input.
    endInput: () => void (hasExited || (master as unknown as Writable).write(Uint8Array.of(4))),
    resize(size) {
      if (!over) pty.resize(fd, size.cols, size.rows);
    },
    signal(signal) {
      // A process that was just forked may not have its process group yet. Its PID is not used again before its exit
      // is known.
      if (!signalGroup(pid, signal) && !hasExited) signalProcess(pid, signal);
    },
    exited,
  };
}

/**
 * Writes the end marker after the last output, and repeats it until it is read: a Ctrl-C that was typed just before the
 * exit makes the kernel drop unread output, and the marker with it. Rejects if the PTY does not accept the marker,
 * for example because it is stopped.
 */
async function writeMark(
  slave: number,
  mark: string,
  { isOver, isFull }: { readonly isOver: () => boolean; readonly isFull: () => boolean },
): Promise<void> {
  const whole = Buffer.from(mark);
  let left = whole;
  let refusedMs = 0;
  while (!isOver()) {
    try {
      left = left.subarray(writeSync(slave, left));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EAGAIN") throw cause;
      refusedMs += MARK_EVERY_MS;
      if (refusedMs > MARK_MS) throw new Error("the terminal accepts no output", { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, MARK_EVERY_MS).unref());
    if (left.length > 0) continue;
    // While unread output waits for its reader, the marker may be at the end of that output, and is not repeated.
    while (isFull() && !isOver()) await new Promise((resolve) => setTimeout(resolve, MARK_EVERY_MS).unref());
    left = whole;
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
    // The process has ended in the meantime.
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
