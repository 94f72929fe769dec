// A copy of the tree in which mutants are tried.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** Copies the files that git knows or would add, as they are now, and links to what is installed. */
export function copyTree(root, to) {
  for (const path of filesOf(root)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    try {
      cpSync(join(root, path), join(to, path), { verbatimSymlinks: true });
    } catch (error) {
      // A file that is removed and not yet committed.
      if (error.code !== "ENOENT") throw error;
    }
  }
  for (const name of ["node_modules", "dist", ".cache"]) {
    if (readdirSync(root).includes(name)) symlinkSync(join(root, name), join(to, name));
  }
}

/** The files that git knows or would add, of the whole tree or of some folders and files in it. */
export function filesOf(root, paths = []) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return [...new Set(listed.split("\0").filter(Boolean))];
}
