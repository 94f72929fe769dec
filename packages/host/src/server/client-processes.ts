import { fault } from "../errors.ts";
import type { OutputPiece, ProgramStart, TerminalSize, Timers } from "../platform/platform.ts";
import type { ManagedProcess, ProcessListener } from "../process/managed-process.ts";
import type { ProcessManager } from "../process/process-manager.ts";
import { CappedOutput, type CapturedOutput, HeldOutputs } from "./captured-output.ts";
import type { Connection } from "./connection.ts";

/** The exit code of a process that had its time, as the `timeout` command gives it. */
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

/** Under which name a process runs. A symbol is one that no client can use. */
export type ProcessName = string | symbol;

/** What a client asks for. */
export interface ClientProcessStart {
  /** Unique among those of its connection that run. */
  readonly name: ProcessName;
  /** It may still have to be made ready; what is meant for it waits. */
  readonly program: ProgramStart | Promise<ProgramStart>;
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** The most bytes that are taken of each of its outputs; undefined: as many as can be held. */
  readonly cap: number | undefined;
  /** Gets the output as it comes; undefined: it is held until the end. */
  readonly stream?:
    | ((stream: OutputPiece["stream"], bytes: Uint8Array, capReached: boolean) => void)
    | undefined;
}

/** What became of it. The texts are empty where they were streamed. */
export interface ClientProcessEnd {
  readonly exitCode: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

/** Processes that clients start by themselves. Each ends with its connection. */
export class ClientProcesses {
  readonly #manager: ProcessManager;
  readonly #timers: Timers;
  readonly #taken: (name: string) => Error;
  readonly #held = new HeldOutputs();
  /** Those that run, or are being started. */
  readonly #byConnection = new Map<Connection, Map<ProcessName, Promise<ManagedProcess>>>();

  /** `taken`: the error for a name that is in use. */
  constructor(manager: ProcessManager, timers: Timers, taken: (name: string) => Error) {
    this.#manager = manager;
    this.#timers = timers;
    this.#taken = taken;
  }

  /** Resolves when it runs, with what it will come to. */
  async start(
    connection: Connection,
    { name, program, timeoutMs, cap, stream }: ClientProcessStart,
  ): Promise<{ readonly end: Promise<ClientProcessEnd> }> {
    const running = this.#byConnection.get(connection) ?? new Map();
    if (running.has(name)) throw this.#taken(String(name));
    const budget = stream === undefined ? this.#held : undefined;
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
      return { end: this.#end(connection, name, process, outputs, timeoutMs) };
    } catch (cause) {
      this.#forget(connection, name);
      throw cause;
    }
  }

  /** Waits for one that is being started; undefined if there is none of that name. */
  async get(connection: Connection, name: string): Promise<ManagedProcess | undefined> {
    return this.#byConnection
      .get(connection)
      ?.get(name)
      ?.catch(() => undefined);
  }

  /** Ends them all; what waits for one of them gets its end. */
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
    return { exitCode, stdout: stdout.captured(), stderr: stderr.captured() };
  }

  #forget(connection: Connection, name: ProcessName): void {
    const running = this.#byConnection.get(connection);
    running?.delete(name);
    if (running?.size === 0) this.#byConnection.delete(connection);
  }
}

/** Bytes that a client sends to a process. */
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

/** A terminal has at least one cell. */
export function terminalSize({ cols, rows }: TerminalSize): TerminalSize {
  if (cols === 0 || rows === 0) throw fault("invalidParams", "size", "rows and cols are at least 1");
  return { cols, rows };
}
