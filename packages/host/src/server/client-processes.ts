import { fault } from "../errors.ts";
import type { OutputPiece, ProgramStart, TerminalSize, Timers } from "../platform/platform.ts";
import type { ManagedProcess, ProcessListener } from "../process/managed-process.ts";
import type { ProcessManager } from "../process/process-manager.ts";
import type { ClientProcessLimit } from "./client-process-limit.ts";
import type { Connection } from "./connection.ts";
import { BufferedBytes, CappedOutput, type CapturedOutput } from "./output-capture.ts";

/** The exit code of a process that exceeded its time limit, as from the `timeout` program of coreutils. */
const TIMED_OUT = 124;

const SIGNAL_CODES: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** The name of a process. A symbol is a name that no client can use. */
export type ProcessName = string | symbol;

/** A process that a client asks to start. */
export interface ClientProcessStart {
  /** Unique among the running processes of the connection. */
  readonly name: ProcessName;
  /** A promise while the program is still being prepared. Input to the process waits until the program is ready. */
  readonly program: ProgramStart | Promise<ProgramStart>;
  /** Undefined for no time limit. */
  readonly timeoutMs: number | undefined;
  /** Limit on the bytes of each output. Undefined: only the size of the buffer limits the output. */
  readonly cap: number | undefined;
  /** Receives the output as it comes. Undefined if the output is buffered until the process ends. */
  readonly stream?:
    | ((stream: OutputPiece["stream"], bytes: Uint8Array, capReached: boolean) => void)
    | undefined;
}

/** The end of a process. The texts are empty if the output was streamed. */
export interface ClientProcessEnd {
  readonly exitCode: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Whether the process left other processes running, which may write more output. */
  readonly drainTimedOut: boolean;
}

/** Processes that clients start by themselves. They end with their connection. */
export class ClientProcesses {
  readonly #manager: ProcessManager;
  readonly #timers: Timers;
  readonly #limit: ClientProcessLimit;
  readonly #taken: (name: string) => Error;
  readonly #buffered = new BufferedBytes();
  /** Processes that run or are being started. */
  readonly #byConnection = new Map<Connection, Map<ProcessName, Promise<ManagedProcess>>>();

  /** `taken`: creates the error for a name that is in use. */
  constructor(
    manager: ProcessManager,
    timers: Timers,
    limit: ClientProcessLimit,
    taken: (name: string) => Error,
  ) {
    this.#manager = manager;
    this.#timers = timers;
    this.#limit = limit;
    this.#taken = taken;
  }

  /** Resolves when the process runs. `end` resolves when the process has ended. */
  async start(
    connection: Connection,
    { name, program, timeoutMs, cap, stream }: ClientProcessStart,
  ): Promise<{ readonly end: Promise<ClientProcessEnd> }> {
    const running = this.#byConnection.get(connection) ?? new Map();
    if (running.has(name)) throw this.#taken(String(name));
    this.#limit.take(connection);
    const budget = stream === undefined ? this.#buffered : undefined;
    const outputs = { stdout: new CappedOutput(cap, budget), stderr: new CappedOutput(cap, budget) };
    const listener = ({ stream: from, bytes }: OutputPiece): Promise<void> | undefined => {
      const taken = outputs[from].take(bytes);
      if (taken === undefined || stream === undefined) return undefined;
      stream(from, taken, outputs[from].capReached);
      return connection.room();
    };
    const starting = this.#start(connection, program, listener);
    running.set(name, starting);
    this.#byConnection.set(connection, running);
    try {
      const process = await starting;
      if (connection.state === "closed") await process.terminate();
      warnOfPipes(connection, await program, process);
      return { end: this.#end(connection, name, process, outputs, timeoutMs) };
    } catch (cause) {
      this.#forget(connection, name);
      throw cause;
    }
  }

  /** Returns a process, if necessary after its start; undefined if none has this name. */
  async get(connection: Connection, name: string): Promise<ManagedProcess | undefined> {
    return this.#byConnection
      .get(connection)
      ?.get(name)
      ?.catch(() => undefined);
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    await Promise.all([...this.#byConnection.keys()].map((connection) => this.#manager.end(connection)));
  }

  async #start(
    connection: Connection,
    program: ProgramStart | Promise<ProgramStart>,
    listener: ProcessListener,
  ): Promise<ManagedProcess> {
    const ready = await program;
    try {
      return await this.#manager.start(connection, ready, listener);
    } catch (cause) {
      throw fault("processNotStarted", ready.argv[0], (cause as Error).message);
    }
  }

  async #end(
    connection: Connection,
    name: ProcessName,
    process: ManagedProcess,
    { stdout, stderr }: Readonly<Record<OutputPiece["stream"], CappedOutput>>,
    timeoutMs: number | undefined,
  ): Promise<ClientProcessEnd> {
    let late = false;
    const cancel =
      timeoutMs === undefined
        ? undefined
        : this.#timers.after(timeoutMs, () => {
            late = true;
            void process.terminate();
          });
    const { code, signal } = await process.ended;
    cancel?.();
    this.#forget(connection, name);
    const exitCode = late ? TIMED_OUT : (code ?? 128 + (SIGNAL_CODES[signal ?? ""] ?? 0));
    return {
      exitCode,
      stdout: stdout.captured(),
      stderr: stderr.captured(),
      drainTimedOut: process.drainTimedOut,
    };
  }

  #forget(connection: Connection, name: ProcessName): void {
    this.#limit.free(connection);
    const running = this.#byConnection.get(connection);
    running?.delete(name);
    if (running?.size === 0) this.#byConnection.delete(connection);
  }
}

/** Warns a client that asked for a terminal if there is none: programs behave differently without a terminal. */
function warnOfPipes(connection: Connection, { tty }: ProgramStart, process: ManagedProcess): void {
  if (tty === undefined || process.tty) return;
  const message = "This machine has no terminals for programs: the program runs on pipes, and has no size.";
  connection.notify("warning", { threadId: null, message });
}

/** Writes input from a client to a process. */
export async function writeInput(
  process: ManagedProcess,
  {
    deltaBase64,
    closeStdin = false,
  }: { readonly deltaBase64?: string | null | undefined; readonly closeStdin?: boolean | undefined },
): Promise<void> {
  if (deltaBase64 != null) {
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(deltaBase64))
      throw fault("invalidParams", "deltaBase64", "is not base64");
    await process.write(Buffer.from(deltaBase64, "base64")).catch((cause: Error) => {
      throw fault("processInputClosed", cause.message);
    });
  }
  if (closeStdin) process.endInput();
}

/** Checks that a terminal has at least one cell. */
export function terminalSize({ cols, rows }: TerminalSize): TerminalSize {
  if (cols === 0 || rows === 0) throw fault("invalidParams", "size", "rows and cols are at least 1");
  return { cols, rows };
}
