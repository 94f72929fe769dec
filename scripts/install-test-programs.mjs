// Installs the programs that tests use and npm does not have, with apt-get, where that is possible without a question:
// as root on Debian and Ubuntu. Prints a line for each one that is missing, and exits with code 1 then. With --all, the
// programs that only `npm run proof` uses are unpacked to .cache/programs/.
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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
if (process.argv.includes("--all") && !isOnPath("nginx")) unpackNginx();

/** Unpacked and not installed, because an installation would start a server. Without it, one test is skipped. */
function unpackNginx() {
  const folder = ".cache/programs";
  if (isExecutable(join(folder, "usr/sbin/nginx")) || !isOnPath("apt-get")) return;
  const draft = mkdtempSync(join(tmpdir(), "bobbin-nginx-"));
  mkdirSync(folder, { recursive: true });
  spawnSync("apt-get", ["download", "-qq", "nginx"], { cwd: draft, stdio: "ignore" });
  for (const file of readdirSync(draft)) spawnSync("dpkg", ["-x", join(draft, file), folder]);
  rmSync(draft, { recursive: true });
  if (!isExecutable(join(folder, "usr/sbin/nginx")))
    process.stderr.write(
      "missing: nginx, for the test of the reverse proxy in docs/deploy.md, which is skipped\n",
    );
}

function install(packages) {
  return apt(["install", "-y", "-qq", "--no-install-recommends", ...packages]);
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "ignore"], env }).status === 0;
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
