// The baseline for a pass over all journals: opens each file, reads its end and closes it.
import { close, fstat, open, read, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const AT_ONCE = 16;
const END_BYTES = 64 * 1024;
const calls = {
  open: promisify(open),
  fstat: promisify(fstat),
  read: promisify(read),
  close: promisify(close),
};

/**
 * Reads the end of every .jsonl file below a folder. Resolves with the time that it took, in milliseconds.
 * @param {string} folder
 */
export async function readFileEnds(folder) {
  const begun = performance.now();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) =>
    one.endsWith(".jsonl"),
  );
  const lane = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await readEnd(join(folder, name));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return performance.now() - begun;
}

/** @param {string} path */
async function readEnd(path) {
  const file = await calls.open(path, "r");
  try {
    const { size } = await calls.fstat(file);
    const length = Math.min(size, END_BYTES);
    await calls.read(file, Buffer.allocUnsafe(length), 0, length, size - length);
  } finally {
    await calls.close(file);
  }
}
