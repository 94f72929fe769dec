import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In memory, and not visible to confined commands, which have a /dev of their own: they could change what is in /tmp. */
const SHARED_MEMORY = "/dev/shm";

/** Bytes that a program reads from descriptors, for a way to start it that passes on none: files that a shell opens. */
export async function inputFiles(
  inputs: readonly Uint8Array[],
): Promise<{ readonly paths: readonly string[]; remove(): Promise<void> }> {
  if (inputs.length === 0) return { paths: [], remove: async () => {} };
  const hasMemory = await access(SHARED_MEMORY, constants.W_OK).then(
    () => true,
    () => false,
  );
  const folder = await mkdtemp(join(hasMemory ? SHARED_MEMORY : tmpdir(), "bobbin-input-"));
  const paths = inputs.map((_, nth) => join(folder, String(nth)));
  await Promise.all(paths.map((path, nth) => writeFile(path, inputs[nth]!, { mode: 0o600 })));
  return { paths, remove: () => rm(folder, { recursive: true, force: true }) };
}
