/**
 * Everything that the host takes from the world, in one place: a whole host runs on fakes of it in the
 * simulation. Areas that need more (files, fetch, processes) get their port here when they need it.
 */
export interface Platform {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly files: Files;
  readonly workspace: WorkspaceFiles;
  readonly liveness: Liveness;
  readonly boot: Boot;
  readonly fetch: typeof globalThis.fetch;
  /** What of `fetch` a model's call needs, at a third of its cost; `fetch` itself fits, too. */
  readonly http: Http;
  /** Loads what the first thread needs, so that it does not wait for that. Called when there is time; need not be. */
  prepare(): void;
  readonly listen: Listen;
  /** Loaded with its first use. */
  dial(): Promise<Dial>;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly spawn: Spawn;
  readonly markedProcesses: MarkedProcesses;
  readonly machine: Machine;
  /** A thread of its own for what would hold up everything else; undefined where there is none. */
  worker(name: "search"): Worker | undefined;
  /** Folders with the programs that come with the host, and with what runs them; none where the sources are run. */
  readonly programs: readonly string[];
  /** Gives memory back that nobody uses. May take a while, so only when nobody waits. */
  giveBackMemory(): void;
  /** This process, for diagnostics. */
  process(): {
    readonly id: number;
    readonly residentMemoryBytes: number;
    readonly physicalFootprintBytes: null;
  };
}

/** The machine that programs are started on. */
export interface Machine {
  /** Node's names: `linux`, `darwin`; `x64`, `arm64`. */
  readonly os: string;
  readonly arch: string;
  /** The number of the user that the host runs as; undefined where users have none. */
  readonly uid: number | undefined;
  /** The home folder of that user. */
  readonly userHome: string;
}

export type Http = (url: URL, request: HttpRequest) => Promise<HttpAnswer>;

export interface HttpRequest {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** A redirect is an answer like any other; else it is followed. */
  readonly redirect?: "manual";
  /** Whatever happens to its connection, it is not sent a second time. */
  readonly single?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null; keys(): Iterable<string> };
  /** A connection whose answer is read to the end is used again; one that is left before is closed. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Serves HTTP at a place. Throws Node's error with its `code` where that can not be. */
export type Listen = (
  place: { readonly host: string; readonly port: number },
  handle: HttpHandler,
) => Promise<HttpDoor>;

/** Does not throw. */
export type HttpHandler = (request: IncomingRequest) => Promise<HttpReply>;

export interface HttpReply {
  readonly status: number;
  /** Why it is refused, for whoever reads the body. */
  readonly says?: string;
}

export interface IncomingRequest {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly headers: { get(name: string): string | null };
  /** Need not be read, or not to its end. Throws when the sender goes away. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface HttpDoor {
  readonly port: number;
  /** Takes nothing more; what is under way is answered. */
  close(): Promise<void>;
}

/** Connects to other machines. */
export interface Dial {
  /** The addresses of a name, in the system's order. Throws Node's error where there are none. */
  resolve(name: string): Promise<readonly string[]>;
  /** Connects to an address, never to a name. Throws Node's error where that fails or takes too long. */
  connect(address: string, port: number, signal: AbortSignal): Promise<ByteStream>;
  /** Where this process itself listens: the ports, on some of the addresses of this machine. */
  own(): { readonly ports: ReadonlySet<number>; readonly addresses: readonly string[] };
}

/** Bytes in both directions, each with its own end. */
export interface ByteStream {
  /** Taken piece by piece: while nobody takes the next piece, the other side waits. Throws if the stream breaks. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when the other side can take more; rejects when it takes nothing any more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more is written. */
  end(): void;
  /** Drops the stream at once. */
  destroy(): void;
}

/** Starts a program, in a session of its own. Throws Node's error with its `code` where that cannot be done. */
export type Spawn = (start: ProgramStart) => Promise<RunningProgram>;

export interface ProgramStart {
  /** The program, looked up in the PATH of `env` if it is a bare name, and its arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A terminal of this size in place of pipes; its output is all `stdout`. */
  readonly tty?: TerminalSize | undefined;
  /** Whether something can be written to it; if not, it reads the end of input at once. */
  readonly stdin: "open" | "closed";
  /** What it can read from its descriptors 3, 4 and so on. */
  readonly inputs?: readonly Uint8Array[] | undefined;
  /** Whether it gets a channel to the host: behind `inputs` one descriptor to read from and one to write to. */
  readonly channel?: boolean | undefined;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface RunningProgram {
  readonly pid: number;
  /** False where a terminal was asked for and there is none on this machine: it runs on pipes. */
  readonly tty: boolean;
  /** The host's end of the channel, if the program was to have one. */
  readonly channel?: ByteStream | undefined;
  /**
   * What it writes, taken piece by piece: while nobody takes the next piece, the program waits. It ends when the
   * program, and all that have its output open, are gone. `stopReading` ends it behind what was written until then.
   */
  readonly output: AsyncIterable<OutputPiece>;
  stopReading(): void;
  /** Resolves when the program can take more; rejects when it takes nothing any more. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** To all processes of its session's first group, as Ctrl-C and the like. */
  signal(signal: ProgramSignal): void;
  readonly exited: Promise<ProgramExit>;
}

/**
 * Processes with a mark in their environment: those that the host started and whatever these started, in whichever session
 * they are. A process that clears its environment, or that runs as another user, is not found.
 */
export interface MarkedProcesses {
  /** Asks every process that has one of the marks, and what these started, to end, by SIGTERM; whether there is any. */
  ask(marks: readonly string[]): Promise<boolean>;
  /** Kills every process that has one of the marks; resolves when none is left. */
  end(marks: readonly string[]): Promise<void>;
  /** Starts a watchdog: when this process ends, however that is, it kills every process that has the mark. */
  watch(mark: string): Promise<Watchdog>;
}

export interface Watchdog {
  /** Ends the watchdog; no process is killed. */
  stop(): Promise<void>;
  /** Resolves when it is gone, also if somebody else ended it. */
  readonly gone: Promise<void>;
}

export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

export type ProgramSignal = "SIGINT" | "SIGTERM" | "SIGKILL";

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number;
}

export interface Timers {
  /** Runs once after `ms`, however long that is; the returned function cancels. Never keeps the process alive. */
  after(ms: number, run: () => void): Cancel;
  /** Runs once when the current tick's input has been handled. */
  soon(run: () => void): void;
}

export type Cancel = () => void;

/**
 * Paths are absolute. What fails throws Node's error with its `code`. Only files are read: what is neither that nor a
 * folder throws `ENOTFILE`.
 */
export interface Files {
  /** The whole file, or undefined if there is none. One that is larger than any text is refused with `EFBIG`. */
  readText(path: string): Promise<string | undefined>;
  /** Replaces the whole file at once: a reader, or a crash, sees the old one or the new one. Synced. */
  replaceText(path: string, text: string): Promise<void>;
  /** For appending; made if it is not there, and its folders too. `fresh`: it must not be there. */
  openAppend(path: string, options?: { readonly fresh?: boolean }): Promise<AppendFile>;
  /** For reading, or undefined if there is none. */
  openRead(path: string): Promise<ReadFile | undefined>;
  /** Names in a folder with what they are; none if there is no such folder. */
  list(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]>;
  exists(path: string): Promise<boolean>;
  /**
   * Tells, without reading them, whether files have come, changed or gone: as long as the numbers are the same, nothing
   * has. Undefined where that can not be said, because one of them has changed a moment ago.
   */
  stamps(paths: readonly string[]): Promise<readonly number[] | undefined>;
  /**
   * Where a path leads when all links are followed; names behind the last one that exists are kept as they are. Throws
   * if that cannot be found out.
   */
  realPath(path: string): Promise<string>;
  /**
   * A view for reading on behalf of somebody who may not read everything. What `isAllowed` refuses does not exist in it.
   * It is asked about real paths, and about the file that was really opened: a link that changes meanwhile changes
   * nothing.
   */
  within(isAllowed: (realPath: string) => Promise<boolean>): ReadableFiles;
  /** Makes the target's folders; both folders are synced unless that is not asked for. */
  rename(from: string, to: string, options?: { readonly unsynced?: boolean }): Promise<void>;
  /** A file, or a folder with all that is in it; nothing if it is not there. `synced`: it stays away after a power cut. */
  remove(path: string, options?: { readonly synced?: boolean }): Promise<void>;
  /** Overwrites bytes of a file with blanks, where they are. Not synced. Nothing if there is no such file. */
  erase(path: string, position: number, length: number): Promise<void>;
  /** A file, or the names in a folder, whoever wrote them: as they are now they survive a power cut. Nothing if there is none. */
  sync(path: string): Promise<void>;
  /** A file that is there or not, with a short text, made in one step: false if it is there already. */
  claim(path: string, text: string): Promise<boolean>;
  /** A claim's text, or undefined if there is none. */
  claimed(path: string): Promise<string | undefined>;
}

/** What is read of other people's folders. */
export type ReadableFiles = Pick<Files, "readText" | "openRead" | "list" | "exists" | "stamps">;

/** Files of people's folders, which the host reads and changes for them; `Files` are those of its home. */
export interface WorkspaceFiles {
  /** A whole file, or undefined if there is none. Throws `ENOTFILE` for anything else, `EFBIG` beyond `maxBytes`. */
  read(
    path: string,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly mode: number } | undefined>;
  /**
   * Makes or replaces a file in one step, and its folders: a reader, or a crash, sees the old one or the new one. A link is
   * followed. Throws `EACCES` if the real path of what would be replaced is not allowed.
   */
  replace(
    path: string,
    bytes: Uint8Array,
    options: { readonly mode: number | undefined; isAllowed(realPath: string): boolean },
  ): Promise<void>;
  /** Removes a file, or a link; nothing if there is none. */
  remove(path: string, options: { isAllowed(realPath: string): boolean }): Promise<void>;
}

/** Who is alive, told by locks that end with the process that holds them. */
export interface Liveness {
  /**
   * Holds a lock until the returned function is called or this process ends. Throws with the code `ENETFS` where
   * locks and appends of two machines do not see each other.
   */
  announce(path: string): Promise<() => Promise<void>>;
  /** Whether someone else holds the lock. */
  alive(path: string): Promise<boolean>;
  /** Runs while no one else, in no process, runs under the same path. */
  exclusively<T>(path: string, work: () => Promise<T>): Promise<T>;
}

/** Messages and answers are plain data. */
export interface Worker {
  ask(message: unknown): Promise<unknown>;
  /** Ends it, whatever it does. Asked again, it starts anew. */
  close(): Promise<void>;
}

/** One run of the machine, from its start to its end: what was not synced does not outlive it. */
export interface Boot {
  id(): Promise<string>;
  isNow(id: string): Promise<boolean>;
}

export interface AppendFile {
  /** Bytes written so far. */
  readonly size: number;
  /** Where the file really ends: elsewhere, if someone else has written to it. At once where that is as quick. */
  end(): number | Promise<number>;
  /** All of it or an error; handed to the operating system, so it survives the end of this process. Tells where it begins. */
  append(bytes: Uint8Array): Promise<number>;
  /** All that was appended survives a power cut. Calls while one is under way share the next. */
  sync(): Promise<void>;
  /** Cuts what is behind `size`; for a torn tail. */
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

export interface ReadFile {
  size(): Promise<number>;
  /** Up to `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface Ids {
  /** UUIDv7: sortable by time of creation. */
  uuid(): string;
  /** A random safe integer above zero; for server requests. */
  integer(): number;
}
