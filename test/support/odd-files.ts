import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Creates one of each kind of path that is no ordinary file or folder: symlinks, pipes, sockets and the like. */
export function makeOddFiles(folder: string): void {
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("file"), "hello");
  writeFileSync(at("empty"), "");
  writeFileSync(at("binary"), Buffer.from([0, 255, 254, 10]));
  mkdirSync(at("folder"));
  writeFileSync(at("folder/inside"), "inside");
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync("pipe", at("link-to-pipe"));
  symlinkSync("file", at("link"));
  symlinkSync("folder", at("link-to-folder"));
  symlinkSync("none", at("link-to-nowhere"));
  symlinkSync("circle-b", at("circle-a"));
  symlinkSync("circle-a", at("circle-b"));
  symlinkSync("/dev/zero", at("link-to-device"));
  // It takes no room.
  closeSync(openSync(at("huge"), "w"));
  truncateSync(at("huge"), 2 ** 40);
  mkdirSync(at("locked"));
  writeFileSync(at("locked/inside"), "inside");
  chmodSync(at("locked"), 0);
  writeFileSync(at("unreadable"), "secret");
  chmodSync(at("unreadable"), 0);
  makeSocket(at("socket"));
}

/** A socket that nobody listens on. */
function makeSocket(path: string): void {
  const script =
    'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
  try {
    execFileSync(process.execPath, ["-e", script, path], { stdio: "ignore" });
  } catch {
    // The process ends itself, so that the socket file stays.
  }
}
