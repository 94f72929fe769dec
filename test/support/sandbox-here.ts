import { spawnSync } from "node:child_process";
import { isHere } from "./machine.ts";

const tried = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true"]);
const problem = tried.error?.message ?? tried.stderr?.toString().trim();

/** Whether commands can be sandboxed on this machine. */
export const hasSandbox = isHere(
  "SANDBOX",
  process.platform === "linux" && tried.status === 0,
  `bubblewrap, for tests of the sandbox (${problem})`,
);
