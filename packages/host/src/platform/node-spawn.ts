import { type ChildProcess, spawn as start } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { covered } from "./exposed-descriptors.ts";
import { byteStream } from "./node-byte-stream.ts";
import { spawnOnTerminal } from "./node-terminal.ts";
import { OutputPieces } from "./output-pieces.ts";
import type { ProgramExit, ProgramSignal, ProgramStart, RunningProgram, Spawn } from "./platform.ts";
import { nextTurn } from "./shared-looks.ts";

export const nodeSpawn: Spawn = async (program) => {
  await ownTurn();
  if (program.tty === undefined) return onPipes(program);
  return (await spawnOnTerminal(program)) ?? onPipes(program);
};

let lastTurn: Promise<void> = Promise.resolve();

/** Nothing else is done while a program is forked, which takes milliseconds: between two, others get their turn. */
function ownTurn(): Promise<void> {
  const turn = lastTurn;
  lastTurn = turn.then(nextTurn);
  return turn;
}

async function onPipes({
  argv,
  cwd,
  env,
  stdin,
  inputs = [],
  channel = false,
}: ProgramStart): Promise<RunningProgram> {
  const [file, ...args] = argv;
  const child = start(file, args, {
    cwd,
    env,
    // A session of its own: it has no terminal of ours, and signals reach all of its group.
    detached: true,
    stdio: covered([
      stdin === "open" ? "pipe" : "ignore",
      "pipe",
      "pipe",
      ...inputs.map(() => "pipe" as const),
      ...(channel ? (["pipe", "pipe"] as const) : []),
    ]),
  });
  const exited = exitOf(child);
  await started(child, cwd);
  inputs.forEach((bytes, nth) => {
    const pipe = child.stdio[3 + nth] as Writable;
    // Whether the program reads it is its own affair.
    pipe.on("error", () => {});
    pipe.end(bytes);
  });
  const output = new OutputPieces({
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
  });
  child.stdin?.on("error", () => {});
  const ends = child.stdio.slice(3 + inputs.length);
  return {
    pid: child.pid!,
    tty: false,
    ...(channel && { channel: byteStream(ends[1] as Readable, ends[0] as Writable) }),
    output,
    stopReading: () => output.stop(),
    write: (bytes) => writeTo(child.stdin, bytes),
    endInput: () => void child.stdin?.end(),
    resize() {},
    signal: (signal) => signalGroup(child.pid!, signal),
    exited,
  };
}

function exitOf(child: ChildProcess): Promise<ProgramExit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** Throws what Node says where the program cannot be started; of a missing folder Node says that the program is missing. */
async function started(child: ChildProcess, cwd: string): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOENT" || existsSync(cwd)) throw cause;
    throw Object.assign(new Error(`the folder ${cwd} does not exist`), { code });
  }
}

export async function writeTo(stream: Writable | null, bytes: Uint8Array): Promise<void> {
  if (stream === null || !stream.writable) throw new Error("its input is closed");
  await new Promise<void>((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** To every process of the group that the program leads; nothing if it is gone. */
export function signalGroup(pid: number, signal: ProgramSignal): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    // Gone already.
    return false;
  }
}
