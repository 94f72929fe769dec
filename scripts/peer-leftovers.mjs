// Removes what the sandbox of the Codex CLI leaves in /tmp, whatever its TMPDIR is, if it is ended in the middle: empty
// folders in place of those that its commands must not create.
import { existsSync, rmdirSync } from "node:fs";

const PATHS = ["/tmp/.git", "/tmp/.codex", "/tmp/.agents", "/tmp/.aws"];

/** Notes what is there now. The returned function removes the empty folders that have come since. */
export function notePeerLeftovers() {
  const before = PATHS.filter((path) => existsSync(path));
  return () => {
    for (const path of PATHS.filter((one) => !before.includes(one))) {
      try {
        rmdirSync(path);
      } catch {
        // It is not there, or somebody has put something into it.
      }
    }
  };
}
