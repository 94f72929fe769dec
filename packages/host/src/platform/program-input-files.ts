import { execFile } from "node:child_process";
import { openSync } from "node:fs";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { byteStream } from "./node-byte-stream.ts";
import type { ByteStream } from "./platform.ts";

/**
 * The folder for the temporary files. It is held in memory, and sandboxed commands cannot see it, because they have a
 * /dev of their own. They could change files in /tmp.
 */
const SHARED_MEMORY = "/dev/shm";

interface InputFiles {
  readonly paths: readonly string[];
  /** The host's end of the channel, and the named pipes that the program reads from and writes to. */
  readonly channel?: { readonly stream: ByteStream; readonly paths: readonly [string, string] };
  remove(): Promise<void>;
}

/**
 * Writes the inputs of a program to temporary files, which a shell opens as the program's descriptors 3, 4 and so on.
 * Needed for programs on a PTY: they cannot be started with extra descriptors.
 */
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

/** Creates a named pipe per direction. */
async function channelIn(folder: string): Promise<NonNullable<InputFiles["channel"]>> {
  const paths = [join(folder, "read"), join(folder, "write")] as const;
  await promisify(execFile)("mkfifo", ["-m", "600", "--", ...paths], { env: { PATH: "/usr/bin:/bin" } });
  // Opened for reading and writing: then the open does not wait for the program, and a program that opens its end
  // late sees no end of file.
  const open = (path: string): number => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new Socket({ fd: open(paths[0]), readable: false, writable: true });
  const input = new Socket({ fd: open(paths[1]), readable: true, writable: false });
  return { stream: byteStream(input, output), paths };
}
