// Memory of a process tree, from /proc. PSS counts a page that n processes share as 1/n of a page, so that
// a tree's sum counts none twice.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./stats.mjs";

const KIB_A_MIB = 1024;

export const canMeasureMemory = existsSync("/proc/self/smaps_rollup");

/**
 * A process and all its descendants, the process first.
 * @param {number} root
 * @returns {number[]}
 */
export function processTree(root) {
  if (!existsSync("/proc/self/stat")) return [root];
  /** @type {Map<number, number[]>} */
  const childrenOf = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readProc(`/proc/${name}/stat`);
    if (stat === undefined) continue;
    // The command's name may hold spaces and parentheses; the fields that follow it do not.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (let i = 0; i < tree.length; i++) tree.push(...(childrenOf.get(tree[i]) ?? []));
  return tree;
}

/**
 * @param {number} root
 * @returns {number} PSS in MiB
 */
export function treeMemory(root) {
  const shares = processTree(root).flatMap((pid) => {
    const found = readProc(`/proc/${pid}/smaps_rollup`)?.match(/^Pss:\s+(\d+) kB$/m);
    return found ? [Number(found[1]) / KIB_A_MIB] : [];
  });
  if (shares.length === 0) throw new Error(`process ${root} is gone, or its memory can not be read`);
  return shares.reduce((sum, share) => sum + share);
}

/**
 * Samples until the tree's memory has stopped moving: a window of samples within `tolerance`, not before
 * `atLeastMs`, given up at `atMostMs` (the last window's median then, with `settled: false`).
 * `until` may ask for more than stillness, for example that memory has come back to where it was.
 * @param {number} root
 * @param {{ atLeastMs?: number, atMostMs?: number, tolerance?: number, until?: (pss: number) => boolean }} [options]
 */
export async function settledMemory(root, options = {}) {
  const { atLeastMs = 0, atMostMs = 10_000, tolerance = 0.01, until = () => true } = options;
  const everyMs = 100;
  const windowLength = 6;
  /** @type {number[]} */
  const samples = [];
  const start = performance.now();
  for (;;) {
    samples.push(treeMemory(root));
    const window = samples.slice(-windowLength);
    const pss = median(window);
    const still =
      window.length === windowLength && Math.max(...window) - Math.min(...window) <= pss * tolerance;
    const waitedMs = performance.now() - start;
    const settled = still && waitedMs >= atLeastMs && until(pss);
    if (settled || waitedMs >= atMostMs) return { pss, settled, waitedMs };
    await sleep(everyMs);
  }
}

/**
 * Samples a process's resident memory. The returned function stops that, and gives by how many MB it grew at the most.
 * @param {number} pid
 */
export async function watchResident(pid) {
  const resident = () =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) / 1000;
  await sleep(500);
  const before = resident();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, resident());
  }, 20);
  return () => {
    clearInterval(timer);
    return most - before;
  };
}

/** @param {string} path */
function readProc(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
