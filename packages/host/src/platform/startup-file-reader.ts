import { readFileSync } from "node:fs";
import { checkUtf8, readWholeSync } from "./node-read-file.ts";
import type { Files } from "./platform.ts";

/**
 * Reads files synchronously while the process starts: nothing else runs yet that a blocked event loop could delay,
 * and a synchronous read is the fastest.
 */
export const earlyFiles: Pick<Files, "readText"> = {
  async readText(path, options) {
    try {
      const text = readWholeSync(path);
      if (options?.strict === true && text.includes("\uFFFD")) checkUtf8(readFileSync(path), path);
      return text;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw cause;
    }
  },
};
