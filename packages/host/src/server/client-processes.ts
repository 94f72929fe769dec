import { fault } from "../errors.ts";
import type { OutputPiece, ProgramStart, TerminalSize, Timers } from "../platform/platform.ts";
import type { ManagedProcess } from "../process/managed-process.ts";
import type { ProcessManager } from "../process/process-manager.ts";
import type { Connection } from "./connection.ts";

/** The exit code of a process that had its time, as the `timeout` command gives it. */
const TIMED_OUT = 124;

const SIGNAL_CODES: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/** What a client asks for. */
export interface ClientProcessStart {
  /** The client's own name for it, unique among those of its connection that run. */
  readonly handle: string;
  readonly program: ProgramStart;
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** The most bytes that are taken of each of its outputs; undefined: all. */
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

interface CapturedOutput {
  readonly text: string;
  readonly capReached: boolean;
}

/** Processes that clients start by themselves. Each ends with its connection. */
export class ClientProcesses {
  readonly #manager: ProcessManager;
  readonly #timers: Timers;
  readonly #byConnection = new Map<Connection, Map<string, ManagedProcess | undefined>>();

  constructor(manager: ProcessManager, timers: Timers) {
    this.#manager = manager;
    this.#timers = timers;
  }

  /** Resolves when it runs, with what it will come to. */
  async start(
    connection: Connection,
    { handle, program, timeoutMs, cap, stream }: ClientProcessStart,
  ): Promise<{ readonly end: Promise<ClientProcessEnd> }> {
    const running = this.#byConnection.get(connection) ?? new Map();
    if (running.has(handle)) throw fault("processHandleTaken", handle);
    // Taken before it runs: two that ask for it at once do not both get it.
    running.set(handle, undefined);
    this.#byConnection.set(connection, running);
    const outputs = { stdout: new CappedOutput(cap), stderr: new CappedOutput(cap) };
    try {
      const process = await this.#manager.start(connection, program, ({ stream: name, bytes }) => {
        const taken = outputs[name].take(bytes);
        if (taken === undefined) return undefined;
        if (stream === undefined) outputs[name].hold(taken);
        else stream(name, taken, outputs[name].capReached);
        return connection.room();
      });
      running.set(handle, process);
      if (connection.state === "closed") await process.terminate();
      return { end: this.#end(connection, handle, process, outputs, timeoutMs) };
    } catch (cause) {
      this.#forget(connection, handle);
      throw fault("processNotStarted", program.argv[0], (cause as Error).message);
    }
  }

  /** Throws if there is none of that name. */
  get(connection: Connection, handle: string): ManagedProcess | undefined {
    return this.#byConnection.get(connection)?.get(handle);
  }

  /** A connection is gone: so are its processes. */
  async left(connection: Connection): Promise<void> {
    await this.#manager.end(connection);
  }

  /** Ends them all; what waits for one of them gets its end. */
  async close(): Promise<void> {
    await Promise.all([...this.#byConnection.keys()].map((connection) => this.left(connection)));
  }

  async #end(
    connection: Connection,
    handle: string,
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
    this.#forget(connection, handle);
    const exitCode = late ? TIMED_OUT : (code ?? 128 + (SIGNAL_CODES[signal ?? ""] ?? 0));
    return { exitCode, stdout: stdout.captured(), stderr: stderr.captured() };
  }

  #forget(connection: Connection, handle: string): void {
    const running = this.#byConnection.get(connection);
    running?.delete(handle);
    if (running?.size === 0) this.#byConnection.delete(connection);
  }
}

/** One output, of which only the first bytes count if it has a cap. */
class CappedOutput {
  readonly #cap: number | undefined;
  readonly #held: Uint8Array[] = [];
  #taken = 0;
  capReached = false;

  constructor(cap: number | undefined) {
    this.#cap = cap;
  }

  /** What of it counts; undefined if it has had its share. */
  take(bytes: Uint8Array): Uint8Array | undefined {
    if (this.capReached) return undefined;
    const taken = this.#cap === undefined ? bytes : bytes.subarray(0, this.#cap - this.#taken);
    this.#taken += taken.length;
    this.capReached = this.#taken === this.#cap;
    return taken;
  }

  hold(bytes: Uint8Array): void {
    this.#held.push(bytes);
  }

  captured(): CapturedOutput {
    return { text: Buffer.concat(this.#held).toString(), capReached: this.capReached };
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
