// Measures the memory of a process tree from /proc. PSS counts a page that n processes share as 1/n page, so that the
// sum over the tree counts no page twice.
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
    // The command name may contain spaces and parentheses; the fields after it do not.
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
  if (shares.length === 0) throw new Error(`process ${root} is gone, or its memory cannot be read`);
  return shares.reduce((sum, share) => sum + share);
}

/**
 * Memory of one process, without its children.
 * @param {number} pid
 * @returns {number} PSS in MiB
 */
export function ownMemory(pid) {
  const found = readProc(`/proc/${pid}/smaps_rollup`)?.match(/^Pss:\s+(\d+) kB$/m);
  if (!found) throw new Error(`process ${pid} is gone, or its memory cannot be read`);
  return Number(found[1]) / KIB_A_MIB;
}

/**
 * Number of processes in a process tree whose command line contains a text.
 * @param {number} root
 * @param {string} text
 */
export function processesNamed(root, text) {
  return processTree(root).filter((pid) => readProc(`/proc/${pid}/cmdline`)?.includes(text)).length;
}

/**
 * Samples the memory of a process tree until it is stable: all samples of a window are within `tolerance`, after at
 * least `atLeastMs`. Gives up after `atMostMs`, with the last window's median and `settled: false`. `until` may add a
 * condition, for example that memory has fallen back to its earlier value.
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
 * Samples a process's resident memory. The returned function stops the sampling and returns the largest growth in MB.
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
