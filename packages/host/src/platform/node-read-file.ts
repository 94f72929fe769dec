import nodeFs, { type Stats } from "node:fs";
import { promisify } from "node:util";
import type { NearFolders } from "./near-folders.ts";
import { called, closedError, type FileCalls } from "./node-append-file.ts";
import type { ReadFile } from "./platform.ts";

export type ReadCalls = FileCalls & Pick<typeof nodeFs, "read">;

const readFile = promisify(nodeFs.readFile);

// What other people's folders hold under a name that we read may be a pipe: nobody writes into it, and a plain open of it
// holds one of the few threads for files for good.
const READ = nodeFs.constants.O_RDONLY | nodeFs.constants.O_NONBLOCK;
const READ_PLAIN = READ | nodeFs.constants.O_NOFOLLOW;
const SMALL_BYTES = 64 * 1024;
/** More is no text that someone wrote, and would fill the memory. */
const TEXT_BYTES = 64 * 1024 * 1024;

/** Opens what is a file. Anything else is an error: `EISDIR` for a folder, `ENOTFILE` for pipes, devices and the like. */
export async function openFile(
  calls: ReadCalls,
  path: string,
  near?: NearFolders,
): Promise<{ readonly fd: number; readonly size: number }> {
  const fd =
    near?.at(path, () => openPlain(path))?.value ??
    (await new Promise<number>((done, fail) =>
      calls.open(path, READ, (cause, opened) => (cause === null ? done(opened) : fail(cause))),
    ));
  try {
    const seen = near?.at(path, () => nodeFs.fstatSync(fd));
    return { fd, size: sizeIn(seen?.value ?? (await statsOf(calls, fd)), path) };
  } catch (cause) {
    await called((answer) => calls.close(fd, answer));
    throw cause;
  }
}

/** Undefined for all but a file that is there under its own name: what a link leads to may be anywhere. */
function openPlain(path: string): number | undefined {
  try {
    return nodeFs.lstatSync(path).isFile() ? nodeFs.openSync(path, READ_PLAIN) : undefined;
  } catch {
    return undefined;
  }
}

/** The size of what was opened, which has to be a file. */
export async function sizeOfFile(calls: ReadCalls, fd: number, path: string): Promise<number> {
  return sizeIn(await statsOf(calls, fd), path);
}

function sizeIn(found: Stats, path: string): number {
  if (found.isDirectory()) throw fileError("EISDIR", "it is a folder", path);
  if (!found.isFile()) throw fileError("ENOTFILE", "it is no file but a pipe, a device or the like", path);
  return found.size;
}

export async function readWhole(calls: ReadCalls, path: string): Promise<string> {
  const opened = await openFile(calls, path);
  return readOpened(calls, opened, path);
}

/** Reads all of an open file as text, and closes it. */
export async function readOpened(
  calls: ReadCalls,
  { fd, size }: { readonly fd: number; readonly size: number },
  path: string,
): Promise<string> {
  try {
    if (size > TEXT_BYTES) throw fileError("EFBIG", `it is larger than ${TEXT_BYTES} bytes`, path);
    return await readFile(fd, "utf8");
  } finally {
    await called((answer) => calls.close(fd, answer));
  }
}

export function isSmall(found: Stats | undefined): boolean {
  return found?.isFile() === true && found.size <= SMALL_BYTES;
}

/** Undefined if it is not what it was a moment ago. */
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

export class NodeReadFile implements ReadFile {
  readonly #calls: ReadCalls;
  readonly #fd: number;
  readonly #path: string;
  readonly #near: NearFolders | undefined;
  #reading = 0;
  #closed: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  /** `near` knows where a look at the file, and letting go of it, need not go to the thread pool. */
  constructor(calls: ReadCalls, fd: number, path: string, near?: NearFolders) {
    this.#calls = calls;
    this.#fd = fd;
    this.#path = path;
    this.#near = near;
  }

  size(): Promise<number> {
    return this.#use(async () => {
      const seen = this.#near?.at(this.#path, () => nodeFs.fstatSync(this.#fd).size);
      return seen?.value ?? (await statsOf(this.#calls, this.#fd)).size;
    });
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#use(
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
      else this.#idle = idle;
    }).then(() => {
      const closed = this.#near?.at(this.#path, () => nodeFs.closeSync(this.#fd));
      if (closed === undefined) return called((answer) => this.#calls.close(this.#fd, answer));
    });
    return this.#closed;
  }

  /** A descriptor must not be closed, and its number given to another file, under a read. */
  async #use<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError(this.#path);
    this.#reading++;
    try {
      return await run();
    } finally {
      if (--this.#reading === 0) this.#idle?.();
    }
  }
}

function statsOf(calls: ReadCalls, fd: number): Promise<Stats> {
  return new Promise((done, fail) =>
    calls.fstat(fd, (cause, stats) => (cause === null ? done(stats) : fail(cause))),
  );
}

/** As Node words them. */
function fileError(code: string, why: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${why}, open '${path}'`), { code });
}
