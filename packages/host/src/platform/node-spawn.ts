import { type ChildProcess, spawn as start } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { withoutInherited } from "./inherited-descriptors.ts";
import { byteStream } from "./node-byte-stream.ts";
import { spawnOnTerminal } from "./node-terminal.ts";
import type { ProgramExit, ProgramStart, RunningProgram, Spawn } from "./platform.ts";
import { signalGroup, writeTo } from "./program-input-and-signals.ts";
import { ProgramOutput } from "./program-output.ts";
import { nextTurn } from "./shared-lookups.ts";

/** Starts a program on a PTY if one is requested and available, else on pipes. */
export const nodeSpawn: Spawn = async (program) => {
  await nextForkTurn();
  if (program.tty === undefined) return onPipes(program);
  return (await spawnOnTerminal(program)) ?? onPipes(program);
};

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Starts programs one per turn of the event loop: a fork blocks the loop for milliseconds, and other work must run in
 * between.
 */
function nextForkTurn(): Promise<void> {
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
  descriptors = [],
}: ProgramStart): Promise<RunningProgram> {
  const [file, ...args] = argv;
  const child = start(file, args, {
    cwd,
    env,
    // In its own session, the program has no access to the host's terminal, and signals reach its whole process
    // group.
    detached: true,
    stdio: withoutInherited([
      stdin === "open" ? "pipe" : "ignore",
      "pipe",
      "pipe",
      ...inputs.map(() => "pipe" as const),
      ...(channel ? (["pipe", "pipe"] as const) : []),
      ...descriptors,
    ]),
  });
  const exited = exitOf(child);
  await started(child, cwd);
  inputs.forEach((bytes, nth) => {
    const pipe = child.stdio[3 + nth] as Writable;
    // An error is ignored, because the program need not read its inputs.
    pipe.on("error", () => {});
    pipe.end(bytes);
  });
  const output = new ProgramOutput({
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

/**
 * Waits until the program runs. Throws Node's error if it cannot be started. If the working folder is missing, Node
 * reports that the program is missing; this is corrected here.
 */
async function started(child: ChildProcess, cwd: string): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOENT" || existsSync(cwd)) throw cause;
    throw Object.assign(new Error(`the folder ${cwd} does not exist`), { code });
  }
}
