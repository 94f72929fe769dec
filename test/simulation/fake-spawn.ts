import type {
  ByteStream,
  MarkedProcesses,
  OutputPiece,
  ProgramExit,
  ProgramSignal,
  ProgramStart,
  RunningProgram,
} from "../../packages/host/src/platform/platform.ts";
import { FakeChannel } from "./fake-channel.ts";
import { FakePipe } from "./fake-pipe.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/**
 * A program; it returns its exit code. A killed program stops at its next await. For `sh -c "words and more"`, `argv`
 * contains those words.
 */
export type FakeProgram = (process: FakeProcess) => Promise<number>;

/** The processes of one world. They outlive the host that started them, unless something ends them. */
export class FakeProcesses {
  /** Programs by name, without folders. A shell's `-c` text starts the program that its first word names. */
  readonly programs = new Map<string, FakeProgram>();
  /** Whether this machine has terminals for programs. */
  hasTerminals = true;
  readonly #scheduler: Scheduler;
  readonly #alive = new Set<FakeProcess>();
  readonly #watchdogs = new Set<FakeWatchdog>();
  #pids = 100;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Every process that runs now. */
  get alive(): readonly FakeProcess[] {
    return [...this.#alive];
  }

  /** The processes that a host started, and their descendants. */
  of(host: Owner): readonly FakeProcess[] {
    return this.alive.filter((process) => process.host === host);
  }

  /** The `spawn` port of a host. */
  spawn(start: ProgramStart, host: Owner): Promise<RunningProgram> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        const argv = wordsOf(start.argv);
        const program = this.programs.get(nameOf(argv[0]!));
        if (program === undefined)
          return reject(Object.assign(new Error(`spawn ${argv[0]} ENOENT`), { code: "ENOENT" }));
        resolve(this.#run({ ...start, argv }, program, host));
      };
      this.#scheduler.post(`${host.name} spawn`, `spawn ${start.argv.join(" ")}`, begin, host);
    });
  }

  /** The `marked` port of a host, which finds processes by their environment. */
  marked(host: Owner): MarkedProcesses {
    const step = <T>(label: string, run: () => T): Promise<T> =>
      new Promise((resolve) => this.#scheduler.post(`${host.name} marks`, label, () => resolve(run()), host));
    return {
      ask: (marks) =>
        step("ask the marked to end", () => {
          const found = marks.flatMap((mark) => this.#marked(mark));
          for (const process of found) process.signal("SIGTERM");
          return found.length > 0;
        }),
      end: (marks) =>
        step("end the marked", () => {
          for (const mark of marks) this.#endMarked(mark);
        }),
      watch: (mark) =>
        step("start a watchdog", () => {
          const watchdog = { host, mark, notifyGone: () => {} };
          this.#watchdogs.add(watchdog);
          const gone = new Promise<void>((resolve) => {
            watchdog.notifyGone = resolve;
          });
          const stop = () => step("stop the watchdog", () => this.#endWatchdog(watchdog));
          return { gone, stop };
        }),
    };
  }

  /** Kills the watchdogs of a host. */
  killWatchdogs(host: Owner): void {
    for (const watchdog of this.#watchdogs) if (watchdog.host === host) this.#endWatchdog(watchdog);
  }

  /**
   * A host was killed: its pipes have no reader any more, processes that die with their parent end, and a moment
   * later the watchdog kills the others.
   */
  hostKilled(host: Owner): void {
    for (const process of this.of(host)) {
      process.pipe.stopReading();
      if (process.diesWithHost) process.die({ code: null, signal: "SIGKILL" });
    }
    for (const watchdog of this.#watchdogs) {
      if (watchdog.host !== host) continue;
      this.#watchdogs.delete(watchdog);
      this.#scheduler.post(`watchdog of ${host.name}`, "sweeps", () => this.#endMarked(watchdog.mark));
    }
  }

  /** The machine lost its power. */
  powerCut(host: Owner): void {
    this.killWatchdogs(host);
    for (const process of this.of(host)) process.die({ code: null, signal: "SIGKILL" });
  }

  #endMarked(mark: string): void {
    for (const process of this.#marked(mark)) process.signal("SIGKILL");
  }

  #marked(mark: string): readonly FakeProcess[] {
    return this.alive.filter(({ env }) => Object.values(env).some((value) => value.includes(mark)));
  }

  #endWatchdog(watchdog: FakeWatchdog): void {
    this.#watchdogs.delete(watchdog);
    watchdog.notifyGone();
  }

  #run(start: FakeStart, program: FakeProgram, host: Owner): RunningProgram {
    const pipe = new FakePipe(this.#scheduler, host);
    const group = ++this.#pids;
    const root = new FakeProcess({
      pid: group,
      group,
      host,
      start,
      pipe,
      scheduler: this.#scheduler,
      input: new FakeInput(),
      all: this.#alive,
      nextPid: () => ++this.#pids,
    });
    const channel = start.channel ? new FakeChannel(this.#scheduler, host, root) : undefined;
    root.channel = channel?.program;
    root.run(program);
    const step = (label: string, run: () => void): void =>
      this.#scheduler.post(`${host.name} pid ${group}`, label, run, host);
    return {
      pid: group,
      tty: start.tty !== undefined && this.hasTerminals,
      channel: channel?.host,
      output: pipe,
      stopReading: () => pipe.stopReading(),
      write: (bytes) =>
        new Promise((resolve, reject) => {
          const closed = start.stdin === "closed" || !root.alive || root.input.ended;
          step("write", () => {
            if (closed) return reject(new Error("its input is closed"));
            root.input.add(Buffer.from(bytes).toString());
            resolve();
          });
        }),
      endInput: () => step("end input", () => root.input.end()),
      resize: (size) => step("resize", () => root.resized(size)),
      // A sent signal arrives, whatever happens to its sender.
      signal: (signal) => {
        this.#scheduler.post(`signals of ${host.name}`, `${signal} to ${group}`, () => {
          for (const process of this.alive) if (process.group === group) process.signal(signal);
        });
      },
      exited: new Promise((resolve) => {
        root.onExit = (exit) => {
          channel?.close();
          step("exited", () => resolve(exit));
        };
      }),
    };
  }
}

interface FakeWatchdog {
  readonly host: Owner;
  readonly mark: string;
  notifyGone(): void;
}

/** A start request, with the words of a shell's script instead of the shell. */
type FakeStart = Omit<ProgramStart, "argv"> & { readonly argv: readonly string[] };

interface FakeProcessParts {
  readonly pid: number;
  /** The process group, which is also the session. */
  readonly group: number;
  readonly host: Owner;
  readonly start: FakeStart;
  readonly pipe: FakePipe;
  readonly input: FakeInput;
  readonly scheduler: Scheduler;
  readonly all: Set<FakeProcess>;
  nextPid(): number;
}

/** One process, as its program sees it. */
export class FakeProcess implements Owner {
  readonly name: string;
  alive = true;
  onExit: (exit: ProgramExit) => void = () => {};
  /** The process's end of the channel to the host, if it has one. */
  channel: ByteStream | undefined;
  readonly #parts: FakeProcessParts;
  readonly #traps = new Map<ProgramSignal, () => void>();
  #size: { readonly cols: number; readonly rows: number } | undefined;

  constructor(parts: FakeProcessParts) {
    this.#parts = parts;
    this.#size = parts.start.tty;
    this.name = `pid ${parts.pid}`;
    parts.all.add(this);
    parts.pipe.open();
  }

  get pid(): number {
    return this.#parts.pid;
  }

  get group(): number {
    return this.#parts.group;
  }

  /** As bubblewrap with `--die-with-parent`, which also ends everything inside. */
  get diesWithHost(): boolean {
    return this.#parts.start.argv.includes("--die-with-parent");
  }

  get host(): Owner {
    return this.#parts.host;
  }

  get pipe(): FakePipe {
    return this.#parts.pipe;
  }

  get input(): FakeInput {
    return this.#parts.input;
  }

  get argv(): readonly string[] {
    return this.#parts.start.argv;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#parts.start.env;
  }

  get cwd(): string {
    return this.#parts.start.cwd;
  }

  /** The size of the process's terminal, if it has one. */
  get size(): { readonly cols: number; readonly rows: number } | undefined {
    return this.#size;
  }

  /** Writes output. Waits while the pipe is full. Without a reader, the process dies. */
  async write(text: string, stream: OutputPiece["stream"] = "stdout"): Promise<void> {
    const { pipe } = this.#parts;
    await this.#step("writes");
    while (!pipe.broken && pipe.full) {
      await new Promise<void>((resolve) => pipe.onRoom(resolve));
      await this.#step("writes on");
    }
    if (!pipe.broken) return pipe.put({ stream, bytes: Buffer.from(text) });
    this.die({ code: null, signal: "SIGPIPE" });
    await this.forever();
  }

  /** The next input; undefined at its end. */
  async read(): Promise<string | undefined> {
    const { input, start } = this.#parts;
    if (start.stdin === "closed") return undefined;
    while (!input.ready) await new Promise<void>((resolve) => input.onChange(resolve));
    await this.#step("reads");
    return input.take();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.scheduler.after(ms, this.name, `slept ${ms} ms`, resolve, this);
    });
  }

  /** Until it is killed. */
  forever(): Promise<never> {
    return new Promise(() => {});
  }

  /** Handles a signal instead of dying. SIGKILL cannot be handled. */
  trap(signal: "SIGINT" | "SIGTERM", handle: () => void = () => {}): void {
    this.#traps.set(signal, handle);
  }

  /** Starts a child. `setsid`: in its own session. `silent`: without its parent's output. */
  fork(
    program: FakeProgram,
    { setsid = false, silent = false }: { readonly setsid?: boolean; readonly silent?: boolean } = {},
  ): FakeProcess {
    const { nextPid, scheduler } = this.#parts;
    const pid = nextPid();
    const child = new FakeProcess({
      ...this.#parts,
      pid,
      group: setsid ? pid : this.group,
      pipe: silent ? new FakePipe(scheduler, undefined) : this.pipe,
      input: new FakeInput(),
    });
    child.run(program);
    return child;
  }

  run(program: FakeProgram): void {
    // An error that a program throws is an error of the test.
    void this.#step("starts")
      .then(() => program(this))
      .then((code) => this.die({ code, signal: null }));
  }

  signal(signal: ProgramSignal): void {
    const trap = this.#traps.get(signal);
    if (trap === undefined) this.die({ code: null, signal });
    else trap();
  }

  resized(size: { readonly cols: number; readonly rows: number }): void {
    this.#size = size;
  }

  die(exit: ProgramExit): void {
    if (!this.alive) return;
    const { scheduler, all, pipe } = this.#parts;
    this.alive = false;
    scheduler.drop(this);
    all.delete(this);
    pipe.close();
    this.onExit(exit);
  }

  #step(label: string): Promise<void> {
    return new Promise((resolve) => this.#parts.scheduler.post(this.name, label, resolve, this));
  }
}

/** Input that was written to a program and not read yet. */
class FakeInput {
  readonly #pieces: string[] = [];
  #changed: (() => void)[] = [];
  ended = false;

  get ready(): boolean {
    return this.ended || this.#pieces.length > 0;
  }

  add(text: string): void {
    this.#pieces.push(text);
    this.#notify();
  }

  end(): void {
    this.ended = true;
    this.#notify();
  }

  take(): string | undefined {
    return this.#pieces.shift();
  }

  onChange(run: () => void): void {
    this.#changed.push(run);
  }

  #notify(): void {
    for (const run of this.#changed.splice(0)) run();
  }
}

const SHELLS = new Set(["sh", "bash", "zsh", "dash"]);

/** For a shell with `-c`, the words of its text. */
function wordsOf(argv: readonly string[]): readonly string[] {
  const isScript = SHELLS.has(nameOf(argv[0]!)) && /^-l?c$/.test(argv[1] ?? "");
  return isScript ? argv[2]!.trim().split(/\s+/) : argv;
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
