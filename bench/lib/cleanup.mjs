// Removes the processes and folders of a benchmark run when the run ends, also by an error or a signal. Kills only
// processes that the bench started and their descendants, each by its id.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notePeerLeftovers } from "../../scripts/peer-leftovers.mjs";
import { processTree } from "./memory.mjs";

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
/** @type {Set<string>} */
const folders = new Set();

/** @param {import("node:child_process").ChildProcess} child */
export function trackChild(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
}

export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), "bobbin-bench-"));
  folders.add(path);
  return path;
}

/** @param {string} path */
export function removeFolder(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    folders.delete(path);
  } catch {
    // A process that is still exiting may hold a file open; removeAll tries again at exit.
  }
}

/**
 * Kills a child and its descendants. The descendants are looked up first, because they lose their parent.
 * @param {import("node:child_process").ChildProcess} child
 */
export function killTree(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const descendants = processTree(child.pid).slice(1);
  child.kill("SIGKILL");
  killEach(descendants);
}

/** @param {number[]} pids of processes that a child of ours started */
export function killEach(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Already gone.
    }
  }
}

function removeAll() {
  for (const child of children) killTree(child);
  for (const path of folders) removeFolder(path);
}

export function cleanUpAtExit() {
  const removePeerLeftovers = notePeerLeftovers();
  process.on("exit", () => {
    removeAll();
    removePeerLeftovers();
  });
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => process.exit(code));
  }
}
