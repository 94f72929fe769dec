import type { FileSearchAccess } from "./file-search-access.ts";
import type { MachineFileAccess } from "./machine-file-access.ts";

/**
 * Everything that the host needs from the operating system, in one interface. The simulation runs a whole host on
 * fakes of it.
 */
export interface Platform {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly files: Files;
  readonly workspace: WorkspaceFiles;
  readonly machineFileAccess: MachineFileAccess;
  readonly fileSearchAccess: FileSearchAccess;
  readonly liveness: Liveness;
  readonly boot: Boot;
  readonly keyring: Keyring;
  readonly fetch: typeof globalThis.fetch;
  /** The part of `fetch` that model calls need, at a third of the cost. `fetch` itself also fits. */
  readonly http: Http;
  /**
   * Preloads modules that the first thread needs, so that it need not wait. Optional; called when the host is idle.
   */
  prepare(): void;
  readonly listen: Listen;
  /** Outgoing connections. Loaded with its first use. */
  dial(): Promise<Dial>;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly spawn: Spawn;
  readonly markedProcesses: MarkedProcesses;
  readonly machine: Machine;
  /** A worker thread for requests that would block the event loop; undefined where there are no workers. */
  worker(name: "search"): Worker | undefined;
  /** A worker thread that also sends messages on its own; undefined where there are no workers. */
  messageWorker(name: "file-search", events: MessageWorkerEvents): MessageWorker | undefined;
  /**
   * Folders with the programs that are shipped with the host, and with the Node that runs them; empty when the host
   * runs from sources.
   */
  readonly programs: readonly string[];
  /** Returns unused memory to the operating system. May take a while, so it is called when the host is idle. */
  giveBackMemory(): void;
  /** This process, for diagnostics. */
  process(): {
    readonly id: number;
    readonly residentMemoryBytes: number;
    readonly physicalFootprintBytes: null;
  };
}

/** The machine that the host and its programs run on. */
export interface Machine {
  /** Node's names: `linux`, `darwin`; `x64`, `arm64`. */
  readonly os: string;
  readonly arch: string;
  /** The numeric id of the host's user; undefined where users have none. */
  readonly uid: number | undefined;
  /** The home folder of the host's user. */
  readonly userHome: string;
}

export type Http = (url: URL, request: HttpRequest) => Promise<HttpAnswer>;

export interface HttpRequest {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** `manual`: a redirect is returned as the response. By default it is followed. */
  readonly redirect?: "manual";
  /** The request is never sent a second time, even if its connection breaks. */
  readonly single?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null; keys(): Iterable<string> };
  /**
   * If the response was read to its end, the connection is reused. If the reader stops before, the connection is
   * closed.
   */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Serves HTTP at an address. Throws Node's error with its `code` if that fails. */
export type Listen = (
  place: { readonly host: string; readonly port: number },
  handle: HttpHandler,
) => Promise<HttpListener>;

/** Answers one request. Must not throw. */
export type HttpHandler = (request: IncomingRequest) => Promise<HttpReply>;

export interface HttpReply {
  readonly status: number;
  /** Why the request is refused; sent in the body. */
  readonly says?: string;
  /** An HTML page for a browser, sent instead of `says`. */
  readonly html?: string;
}

export interface IncomingRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The part after the `?`, empty if there is none. May contain secrets. */
  readonly query: string;
  readonly headers: { get(name: string): string | null };
  /** A handler may leave the body unread, or read a part of it. Throws when the sender disconnects. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A running HTTP server. */
export interface HttpListener {
  readonly port: number;
  /** Accepts no new requests; requests under way are answered. */
  close(): Promise<void>;
}

/** Opens outgoing connections. */
export interface Dial {
  /** Resolves a host name to addresses, in the system's order. Throws Node's error if there are none. */
  resolve(name: string): Promise<readonly string[]>;
  /** Connects to an IP address, never to a host name. Throws Node's error if that fails or takes too long. */
  connect(address: string, port: number, signal: AbortSignal): Promise<ByteStream>;
  /** Where this process itself listens: its ports, and all addresses of this machine. */
  own(): { readonly ports: ReadonlySet<number>; readonly addresses: readonly string[] };
}

/** A two-way stream of bytes whose directions end independently. */
export interface ByteStream {
  /**
   * Read piece by piece, with back-pressure: the other side waits until the next piece is read. Throws if the stream
   * breaks.
   */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when the other side can take more bytes. Rejects when it no longer accepts any. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the output; the input stays open. */
  end(): void;
  /** Closes both directions at once. */
  destroy(): void;
}

/** Starts a program in a session of its own. Throws Node's error with its `code` if that fails. */
export type Spawn = (start: ProgramStart) => Promise<RunningProgram>;

/** A program to start. */
export interface ProgramStart {
  /** The program and its arguments. A bare name is looked up in the PATH of `env`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs the program on a PTY of this size instead of pipes; all its output is then `stdout`. */
  readonly tty?: TerminalSize | undefined;
  /** Whether the program's input can be written to; if `closed`, it reads the end of input at once. */
  readonly stdin: "open" | "closed";
  /** Bytes that the program can read from its descriptors 3, 4 and so on. */
  readonly inputs?: readonly Uint8Array[] | undefined;
  /**
   * Whether the program gets a channel to the host: after `inputs`, one descriptor to read from and one to write to.
   */
  readonly channel?: boolean | undefined;
  /** Descriptors of this process that the program gets, after `inputs` and the channel. */
  readonly descriptors?: readonly number[] | undefined;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A program that was started. */
export interface RunningProgram {
  readonly pid: number;
  /** False if a PTY was requested but this machine has none; the program then runs on pipes. */
  readonly tty: boolean;
  /** The host's end of the channel, if one was requested. */
  readonly channel?: ByteStream | undefined;
  /**
   * The program's output, with back-pressure: the program waits until the next piece is read. The output ends when
   * the program and all processes that have its output open have ended, or after `stopReading` with the bytes that
   * were written until then.
   */
  readonly output: AsyncIterable<OutputPiece>;
  stopReading(): void;
  /** Resolves when the program can take more input. Rejects when it no longer accepts any. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Sends a signal to the program's process group, as Ctrl-C does. */
  signal(signal: ProgramSignal): void;
  readonly exited: Promise<ProgramExit>;
}

/**
 * Processes that carry a mark in an environment variable: those that the host started and all their descendants, in
 * any session. A process that clears its environment, or runs as another user, is not found.
 */
export interface MarkedProcesses {
  /**
   * Sends SIGTERM to every process with one of the marks and to its descendants; resolves with whether there was any.
   */
  ask(marks: readonly string[]): Promise<boolean>;
  /** Kills every process with one of the marks; resolves when none is left. */
  end(marks: readonly string[]): Promise<void>;
  /** Starts a watchdog process: when the host ends, in whatever way, it kills every process with the mark. */
  watch(mark: string): Promise<Watchdog>;
}

export interface Watchdog {
  /** Ends the watchdog; no process is killed. */
  stop(): Promise<void>;
  /** Resolves when the watchdog process has ended, whatever ended it. */
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
  /** Milliseconds of a monotonic clock; for durations. */
  monotonic(): number;
}

export interface Timers {
  /** Runs once after `ms`, which may be any length; the returned function cancels. Never keeps the process alive. */
  after(ms: number, run: () => void): Cancel;
  /** Runs once, after the current turn of the event loop has handled its input. */
  soon(run: () => void): void;
}

export type Cancel = () => void;

/**
 * Files of the host's home. Paths are absolute. Failures throw Node's error with its `code`. Only regular files are
 * read: pipes, devices and the like throw `ENOTFILE`.
 */
export interface Files {
  /**
   * The whole file, undefined if it does not exist. Throws `EFBIG` for a file of more than 64 MiB. Bytes that are not
   * UTF-8 are replaced by U+FFFD; with `strict` they throw `EILSEQ`.
   */
  readText(path: string, options?: { readonly strict?: boolean }): Promise<string | undefined>;
  /** Replaces the whole file atomically and syncs it. */
  replaceText(path: string, text: string): Promise<void>;
  /** Opens a file for appending; creates it and its folders if missing. `fresh`: throws if it exists. */
  openAppend(path: string, options?: { readonly fresh?: boolean }): Promise<AppendFile>;
  /** Opens a file for reading; undefined if it does not exist. */
  openRead(path: string): Promise<ReadFile | undefined>;
  /** The entries of a folder; empty if the folder does not exist. */
  list(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]>;
  exists(path: string): Promise<boolean>;
  /**
   * Stamps of files (identity, size, change time), which show without reading whether a file was created, changed or
   * removed: while the numbers are equal, nothing has changed. Undefined if a file changed a moment ago, because a
   * further change might not show.
   */
  stamps(paths: readonly string[]): Promise<readonly number[] | undefined>;
  /** Resolves all symlinks; names at the end that do not exist are kept. Throws if that fails. */
  realPath(path: string): Promise<string>;
  /**
   * A read-only view for a caller with restricted access: a path that `isAllowed` refuses does not exist in it.
   * `isAllowed` gets real paths, and the path of the file that was actually opened, so swapping a symlink in between
   * changes nothing.
   */
  within(isAllowed: (realPath: string) => Promise<boolean>): ReadableFiles;
  /** Creates the target's folders; both parent folders are synced unless `unsynced` is set. */
  rename(from: string, to: string, options?: { readonly unsynced?: boolean }): Promise<void>;
  /**
   * Removes a file, or a folder with its content; does nothing if it does not exist. `synced`: the removal survives a
   * power cut.
   */
  remove(path: string, options?: { readonly synced?: boolean }): Promise<void>;
  /** Overwrites bytes of a file with spaces, in place. Not synced. Does nothing if the file does not exist. */
  erase(path: string, position: number, length: number): Promise<void>;
  /**
   * Syncs a file, or the entries of a folder, whichever process wrote them, so that they survive a power cut. Does
   * nothing if it does not exist.
   */
  sync(path: string): Promise<void>;
  /** Creates a claim, a file with a short text, atomically; false if it exists already. */
  claim(path: string, text: string): Promise<boolean>;
  /** The text of a claim; undefined if it does not exist. */
  claimed(path: string): Promise<string | undefined>;
}

/** The reading part of `Files`, used for users' folders. */
export type ReadableFiles = Pick<Files, "readText" | "openRead" | "list" | "exists" | "stamps">;

/**
 * Files in users' folders, which the host reads and changes for them; `Files` is for its own home. Every change is
 * made through the opened folder (on Linux by its descriptor), after the folder's real path was compared.
 */
export interface WorkspaceFiles {
  /**
   * Holds a file or folder by a descriptor, so that another one cannot take its place before it is used. Undefined if it
   * does not exist, or if the path leads over a symlink. Linux only.
   */
  hold(path: string): Promise<HeldPath | undefined>;
  /**
   * The whole file, undefined if it does not exist. Throws `ENOTFILE` for anything but a file, `EFBIG` beyond
   * `maxBytes`. With `from`, no symlink is followed.
   */
  read(
    path: string,
    maxBytes: number,
    from?: FolderIdentity,
  ): Promise<{ readonly bytes: Uint8Array; readonly mode: number } | undefined>;
  /**
   * Resolves where a change of a path would take place. With `link`, a symlink at the path is itself the place.
   * Throws `ELOOP` for a symlink to nothing.
   */
  locate(path: string, options?: { readonly link?: boolean }): Promise<FilePlace>;
  /**
   * Creates or replaces a file atomically, and creates its folders. A symlink is followed. Throws `EACCES` if the
   * real path of the target is not allowed, or if `from` is no longer the folder at its path. Resolves with the topmost
   * folder that it created, undefined if all existed; if it fails, it leaves no folder.
   */
  replace(
    path: string,
    bytes: Uint8Array,
    options: {
      readonly mode: number | undefined;
      readonly from?: FolderIdentity | undefined;
      isAllowed(realPath: string): boolean;
    },
  ): Promise<string | undefined>;
  /**
   * Removes a file or a symlink; does nothing if it does not exist. With `madeFolder`, the result of `replace`, also
   * removes the folders that were created for the file, unless they contain something else.
   */
  remove(
    path: string,
    options: {
      readonly madeFolder?: string | undefined;
      readonly from?: FolderIdentity | undefined;
      isAllowed(realPath: string): boolean;
    },
  ): Promise<void>;
  /**
   * Removes what `replace` has left in the folder of a file when its process was killed. Does not follow symlinks. Does
   * nothing if there is no such folder.
   */
  removeDrafts(path: string, options: { readonly from?: FolderIdentity | undefined }): Promise<void>;
  /** Creates a folder in an existing one; false if something is there already. Throws `EACCES` if it is not allowed. */
  makeFolder(path: string, options: { isAllowed(realPath: string): boolean }): Promise<boolean>;
  /** Removes an empty folder; does nothing if it does not exist or is not empty. */
  removeFolder(path: string, options: { isAllowed(realPath: string): boolean }): Promise<void>;
}

/** A file or folder that is held by a descriptor of this process. */
export interface HeldPath {
  readonly descriptor: number;
  close(): Promise<void>;
}

/** A folder as it was opened: its real path, and its device and inode. */
export interface FolderIdentity {
  readonly path: string;
  readonly id: string;
}

/**
 * The place of a file, as it was when somebody decided about it. It is plain data, so that it survives an approval and
 * a crash. A change that is made with it takes place there or fails.
 */
export interface FilePlace {
  /** The real path of the file, which need not exist. */
  readonly path: string;
  /** The folder of the file or, if that does not exist, the nearest parent that does. */
  readonly folder: FolderIdentity;
}

/** Detects which hosts are alive, by locks that the operating system releases when their process ends. */
export interface Liveness {
  /**
   * Holds a lock until the returned function is called or this process ends. Other processes see its file only when it
   * is locked; a crash before that may leave a file that ends in `.new`. Throws with the code `ENETFS` on a network
   * file system, where two machines do not see each other's locks and appends.
   */
  announce(path: string): Promise<() => Promise<void>>;
  /** Whether another process holds the lock. */
  alive(path: string): Promise<boolean>;
  /** Runs `work` while no other call, in this or another process, runs under the same path. */
  exclusively<T>(path: string, work: () => Promise<T>): Promise<T>;
}

/**
 * The operating system's keyring, which stores short secrets of the user by name. A locked keyring may wait for the user
 * forever: the signal aborts the call. Rejects with a message for people if there is no keyring or if it refuses.
 */
export interface Keyring {
  /** The secret; undefined if the keyring has no such item, or does not show it. */
  get(item: string, signal: AbortSignal): Promise<string | undefined>;
  /** Creates or replaces an item. Resolves when it survives a restart of the machine. */
  set(item: string, value: string, signal: AbortSignal): Promise<void>;
}

/** A worker thread that answers requests. Requests and answers are plain data. */
export interface Worker {
  ask(message: unknown): Promise<unknown>;
  /** Ends the worker thread, even in the middle of a request. The next request starts a new one. */
  close(): Promise<void>;
}

/** A worker thread that exchanges messages in both directions. Messages are plain data. */
export interface MessageWorker {
  /** Sends a message to the worker thread, and starts it if it does not run. */
  post(message: unknown): void;
  /** Ends the worker thread, even in the middle of its work; no further message arrives from it. */
  close(): Promise<void>;
}

/** Callbacks of a `MessageWorker`. */
export interface MessageWorkerEvents {
  received(message: unknown): void;
  /** The worker thread could not be started, or ended on its own: messages to it are lost. */
  gone(why: Error): void;
}

/** Identifies one boot of the machine: writes that were not synced do not survive it. */
export interface Boot {
  id(): Promise<string>;
  isNow(id: string): Promise<boolean>;
}

/** A file that is open for appending. */
export interface AppendFile {
  /** The size of the file as far as this handle wrote it. */
  readonly size: number;
  /** The actual size of the file, which differs if another process wrote to it. Synchronous where that is quick. */
  end(): number | Promise<number>;
  /**
   * Appends all bytes or rejects. The bytes are handed to the operating system, so they survive the end of this
   * process. Resolves with the position of the first byte. `keepTime`: keeps the file's modification time, if the
   * file system allows that.
   */
  append(bytes: Uint8Array, options?: { readonly keepTime?: boolean }): Promise<number>;
  /** Syncs the file, so that everything appended survives a power cut. Calls during a sync share the next one. */
  sync(): Promise<void>;
  /** Truncates the file to `size`; for a partial line at its end. */
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** A file that is open for reading. */
export interface ReadFile {
  size(): Promise<number>;
  /** The permission bits of the opened file. Missing where files have none, such as in memory. */
  mode?(): Promise<number>;
  /** Reads up to `length` bytes from `position`; fewer only at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface Ids {
  /** A UUIDv7, which sorts by creation time. */
  uuid(): string;
  /** A random safe integer above zero; the id of a server request. */
  integer(): number;
}
