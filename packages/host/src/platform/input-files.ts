import { execFile } from "node:child_process";
import { openSync } from "node:fs";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { byteStream } from "./node-byte-stream.ts";
import type { ByteStream } from "./platform.ts";

/** In memory, and not visible to confined commands, which have a /dev of their own: they could change what is in /tmp. */
const SHARED_MEMORY = "/dev/shm";

interface InputFiles {
  readonly paths: readonly string[];
  /** The host's end of the channel, and the files that the program reads from and writes to. */
  readonly channel?: { readonly stream: ByteStream; readonly paths: readonly [string, string] };
  remove(): Promise<void>;
}

/** Bytes that a program reads from descriptors, for a way to start it that passes on none: files that a shell opens. */
export async function inputFiles(inputs: readonly Uint8Array[], hasChannel: boolean): Promise<InputFiles> {
  if (inputs.length === 0 && !hasChannel) return { paths: [], remove: async () => {} };
  const hasMemory = await access(SHARED_MEMORY, constants.W_OK).then(
    () => true,
    () => false,
  );
  const folder = await mkdtemp(join(hasMemory ? SHARED_MEMORY : tmpdir(), "bobbin-input-"));
  const paths = inputs.map((_, nth) => join(folder, String(nth)));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await Promise.all(paths.map((path, nth) => writeFile(path, inputs[nth]!, { mode: 0o600 })));
    return { paths, remove, ...(hasChannel && { channel: await channelIn(folder) }) };
  } catch (cause) {
    await remove();
    throw cause;
  }
}

/** A named pipe for each direction. */
async function channelIn(folder: string): Promise<NonNullable<InputFiles["channel"]>> {
  const paths = [join(folder, "read"), join(folder, "write")] as const;
  await promisify(execFile)("mkfifo", ["-m", "600", "--", ...paths], { env: { PATH: "/usr/bin:/bin" } });
  // Open for both: so the program need not be there yet, and one that is slow to open it finds no end.
  const open = (path: string): number => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new Socket({ fd: open(paths[0]), readable: false, writable: true });
  const input = new Socket({ fd: open(paths[1]), readable: true, writable: false });
  return { stream: byteStream(input, output), paths };
}
