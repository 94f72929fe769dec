// Compares the installed packages with the lockfile.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Reports whether `node_modules` in a folder is what `npm ci` would install there: the same versions, none missing,
 * and none that was built for another platform.
 *
 * @param {string} root the folder that has the lockfile
 * @param {{ platform: string, arch: string }} [machine]
 */
export function isInstalled(root, { platform, arch } = process) {
  // npm writes this file last, so an interrupted installation has none.
  const record = join(root, "node_modules/.package-lock.json");
  if (!existsSync(record)) return false;
  const installed = packagesIn(record);
  const wanted = packagesIn(join(root, "package-lock.json"));
  // Optional packages may be absent: npm leaves out those of other platforms.
  const complete = Object.entries(wanted).every(
    ([path, { optional }]) => !path.startsWith("node_modules/") || optional === true || path in installed,
  );
  const exact = Object.entries(installed).every(
    ([path, { integrity, os, cpu }]) =>
      path in wanted &&
      wanted[path].integrity === integrity &&
      (os === undefined || os.includes(platform)) &&
      (cpu === undefined || cpu.includes(arch)),
  );
  return complete && exact;
}

/**
 * @param {string} path of a lockfile
 * @returns {Record<string, { integrity?: string, optional?: boolean, os?: string[], cpu?: string[] }>}
 */
function packagesIn(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages;
}
