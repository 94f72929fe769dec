// Makes a fresh clone ready and costs nothing on the next run: installs when the lockfile changed, builds when
// a source is newer than the bundle. Needs nothing but Node and npm.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19))
  fail(`Node 20.19 or newer is needed; this is ${process.version}`);

const stamp = "node_modules/.bobbin-installed";
// What is installed depends on the platform too: optional native packages differ.
const wanted = createHash("sha256")
  .update(readFileSync("package-lock.json"))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  process.stderr.write("installing dependencies (only this once) …\n");
  // Not `npm ci`: it wants every platform's optional packages to be in the lockfile, and not every registry has
  // them all. What `install` may write to the lockfile on another platform is none of its business.
  const lock = readFileSync("package-lock.json");
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync("package-lock.json", lock);
  writeFileSync(stamp, wanted);
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
