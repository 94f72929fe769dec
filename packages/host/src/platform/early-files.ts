import { readFileSync } from "node:fs";
import type { Files } from "./platform.ts";

/** For the time before anyone is served: with nobody to hold up, the straight way is the shortest. */
export const earlyFiles: Pick<Files, "readText"> = {
  async readText(path) {
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw cause;
    }
  },
};
