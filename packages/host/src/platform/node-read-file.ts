import { isUtf8 } from "node:buffer";
import nodeFs, { type Stats } from "node:fs";
import { promisify } from "node:util";
import type { LocalDiskFolders } from "./local-disk-folders.ts";
import { closedError, type FileCalls, promised } from "./node-append-file.ts";
import type { ReadFile } from "./platform.ts";

export type ReadCalls = FileCalls & Pick<typeof nodeFs, "read">;

const readFile = promisify(nodeFs.readFile);

// Non-blocking, because a path in a user's folder may be a pipe without a writer. A blocking open would occupy one of
// the few threads of the pool forever.
const READ = nodeFs.constants.O_RDONLY | nodeFs.constants.O_NONBLOCK;
const READ_PLAIN = READ | nodeFs.constants.O_NOFOLLOW;
const SMALL_BYTES = 64 * 1024;
/** Limit on the bytes of a text file. Larger files would fill the memory. */
const TEXT_BYTES = 64 * 1024 * 1024;

/** Opens a regular file. Throws `EISDIR` for a folder, `ENOTFILE` for pipes, devices and the like. */
export async function openFile(
  calls: ReadCalls,
  path: string,
  localDisk?: LocalDiskFolders,
): Promise<{ readonly fd: number; readonly size: number }> {
  const fd =
    localDisk?.at(path, () => openPlain(path))?.value ??
    (await new Promise<number>((done, fail) =>
      calls.open(path, READ, (cause, opened) => (cause === null ? done(opened) : fail(cause))),
    ));
  try {
    const seen = localDisk?.at(path, () => nodeFs.fstatSync(fd));
    return { fd, size: sizeIn(seen?.value ?? (await statsOf(calls, fd)), path) };
  } catch (cause) {
    await promised((answer) => calls.close(fd, answer));
    throw cause;
  }
}

/**
 * Opens synchronously if the path is a regular file, else returns undefined: a symlink may lead to a file system that
 * stalls.
 */
function openPlain(path: string): number | undefined {
  try {
    return nodeFs.lstatSync(path).isFile() ? nodeFs.openSync(path, READ_PLAIN) : undefined;
  } catch {
    return undefined;
  }
}

/** The size of an open regular file; throws for anything else. */
export async function sizeOfFile(calls: ReadCalls, fd: number, path: string): Promise<number> {
  return sizeIn(await statsOf(calls, fd), path);
}

function sizeIn(found: Stats, path: string): number {
  if (found.isDirectory()) throw fileError("EISDIR", "illegal operation on a folder", path);
  if (!found.isFile())
    throw fileError("ENOTFILE", "not a regular file but a pipe, a device or the like", path);
  return found.size;
}

export async function readWhole(calls: ReadCalls, path: string): Promise<string> {
  const opened = await openFile(calls, path);
  return readOpened(calls, opened, path);
}

/** Reads an open file as text and closes it. */
export async function readOpened(
  calls: ReadCalls,
  { fd, size }: { readonly fd: number; readonly size: number },
  path: string,
): Promise<string> {
  try {
    checkTextSize(size, path);
    return await readFile(fd, "utf8");
  } finally {
    await promised((answer) => calls.close(fd, answer));
  }
}

function checkTextSize(size: number, path: string): void {
  if (size > TEXT_BYTES) throw fileError("EFBIG", `file is larger than ${TEXT_BYTES} bytes`, path);
}

export function isSmall(found: Stats | undefined): boolean {
  return found?.isFile() === true && found.size <= SMALL_BYTES;
}

/** Reads a small file synchronously; undefined if the path no longer leads to a small regular file. */
export function readSmall(path: string): string | undefined {
  try {
    const fd = nodeFs.openSync(path, READ_PLAIN);
    try {
      return isSmall(nodeFs.fstatSync(fd)) ? nodeFs.readFileSync(fd, "utf8") : undefined;
    } finally {
      nodeFs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Reads a regular file synchronously. Throws for anything else, rather than waiting for a pipe. */
export function readWholeSync(path: string): string {
  const fd = nodeFs.openSync(path, READ);
  try {
    checkTextSize(sizeIn(nodeFs.fstatSync(fd), path), path);
    return nodeFs.readFileSync(fd, "utf8");
  } finally {
    nodeFs.closeSync(fd);
  }
}

/** Throws `EILSEQ` if the bytes of a file are not UTF-8. */
export function checkUtf8(bytes: Uint8Array, path: string): void {
  if (isUtf8(bytes)) return;
  let line = 1;
  for (let at = 0; ; line++) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1 || !isUtf8(bytes.subarray(at, end))) break;
    at = end + 1;
  }
  throw fileError("EILSEQ", `line ${line} is not UTF-8 text`, path);
}

/** A file that is open for reading; `close` waits for the reads under way. */
export class NodeReadFile implements ReadFile {
  readonly #calls: ReadCalls;
  readonly #fd: number;
  readonly #path: string;
  readonly #localDisk: LocalDiskFolders | undefined;
  #reading = 0;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** `localDisk` decides where size and close may run synchronously. */
  constructor(calls: ReadCalls, fd: number, path: string, localDisk?: LocalDiskFolders) {
    this.#calls = calls;
    this.#fd = fd;
    this.#path = path;
    this.#localDisk = localDisk;
  }

  size(): Promise<number> {
    return this.#whileOpen(async () => {
      const seen = this.#localDisk?.at(this.#path, () => nodeFs.fstatSync(this.#fd).size);
      return seen?.value ?? (await statsOf(this.#calls, this.#fd)).size;
    });
  }

  mode(): Promise<number> {
    return this.#whileOpen(async () => (await statsOf(this.#calls, this.#fd)).mode & 0o7777);
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#whileOpen(
      () =>
        new Promise((done, fail) => {
          const bytes = Buffer.allocUnsafe(length);
          let at = 0;
          const more = (): void =>
            this.#calls.read(this.#fd, bytes, at, length - at, position + at, (cause, count) => {
              if (cause !== null) return fail(cause);
              at += count;
              if (count === 0 || at === length) return done(bytes.subarray(0, at));
              more();
            });
          if (length === 0) return done(bytes);
          more();
        }),
    );
  }

  close(): Promise<void> {
    this.#closed ??= new Promise<void>((idle) => {
      if (this.#reading === 0) idle();
      else this.#onIdle = idle;
    }).then(() => {
      const closed = this.#localDisk?.at(this.#path, () => nodeFs.closeSync(this.#fd));
      if (closed === undefined) return promised((answer) => this.#calls.close(this.#fd, answer));
    });
    return this.#closed;
  }

  /**
   * Counts the running reads. If the descriptor were closed during a read, its number could be given to another file.
   */
  async #whileOpen<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError(this.#path);
    this.#reading++;
    try {
      return await run();
    } finally {
      if (--this.#reading === 0) this.#onIdle?.();
    }
  }
}

function statsOf(calls: ReadCalls, fd: number): Promise<Stats> {
  return new Promise((done, fail) =>
    calls.fstat(fd, (cause, stats) => (cause === null ? done(stats) : fail(cause))),
  );
}

/** Creates an error in the wording of Node's own. */
function fileError(code: string, why: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${why}, open '${path}'`), { code });
}
