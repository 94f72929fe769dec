// Installs the programs that tests use and npm does not have, with apt-get, where that is possible without a question:
// as root on Debian and Ubuntu. Prints a line for each one that is missing, and exits with code 1 then.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Name, Debian package, and the tests that use it. */
const PROGRAMS = [
  ["bwrap", "bubblewrap", "tests of the sandbox"],
  ["git", "git", "tests of diffs and undo"],
  ["tmux", "tmux", "tests of the terminal"],
  ["chromium", "chromium", "tests of the console"],
];

const missing = PROGRAMS.filter(([program]) => !isOnPath(program));
if (missing.length > 0 && process.getuid?.() === 0 && isOnPath("apt-get")) {
  const packages = missing.map(([, name]) => name);
  process.stdout.write(`installing ${packages.join(", ")} …\n`);
  if (!install(packages)) {
    apt(["update", "-qq"]);
    install(packages);
  }
}
const left = PROGRAMS.filter(([program]) => !isOnPath(program));
for (const [program, name, use] of left)
  process.stderr.write(`missing: ${program}, for ${use} (Debian package ${name})\n`);
if (left.length > 0) process.exit(1);
const works = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true"], {
  encoding: "utf8",
});
if (works.status !== 0) {
  process.stderr.write(`bubblewrap does not work on this machine: ${works.stderr.trim()}\n`);
  process.exit(1);
}

function install(packages) {
  return apt(["install", "-y", "-qq", "--no-install-recommends", ...packages]);
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "ignore"], env }).status === 0;
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
