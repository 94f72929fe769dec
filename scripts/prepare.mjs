// Prepares a clone: installs the dependencies if node_modules differs from the lockfile, and builds if a source is
// newer than the bundle. Needs only Node and npm.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "./installed-packages.mjs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19))
  fail(`Node 20.19 or newer is needed; this is ${process.version}`);

if (!isInstalled(".")) {
  // A running program must not have its node_modules replaced.
  if (process.argv.includes("--no-install")) fail("the dependencies changed; run npm ci first");
  process.stderr.write("installing dependencies …\n");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
}

const built = existsSync("dist/bobbin.cjs") ? statSync("dist/bobbin.cjs").mtimeMs : 0;
if (["packages", "scripts"].some((folder) => newest(folder) > built))
  run(process.execPath, ["scripts/build.mjs"]);

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name.endsWith(".test.ts")) continue;
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function run(command, args) {
  // npm is a .cmd file on Windows, which only a shell can start.
  const { status, error } = spawnSync(command, args, {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) fail(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}`);
}

function fail(message) {
  process.stderr.write(`bobbin: ${message}\n`);
  process.exit(1);
}
