import { dirname } from "node:path";
import type { Files } from "../platform/platform.ts";
import { isWithin } from "./access.ts";

/** File systems of the kernel; a root there is ignored. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

/**
 * Resolves writable roots to real paths. A root counts only while it resolves to the same path as at its first use: a
 * command that may write to the root's parent could replace the root by a symlink, and the next command could write
 * to the symlink's target.
 */
export class WritableRoots {
  readonly #files: Pick<Files, "realPath">;
  readonly #firstPaths = new Map<string, string>();

  constructor(files: Pick<Files, "realPath">) {
    this.#files = files;
  }

  /**
   * The real paths of a command's roots. Roots that are symlinks inside another root are left out, because a
   * sandboxed command may have created them.
   */
  async of(roots: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(roots.map(async (root) => ({ root, real: await this.#resolve(root) })));
    const direct = found.filter(({ root, real }) => root === real).map(({ root }) => root);
    const reals = new Set<string>();
    for (const { root, real } of found) {
      if (real === undefined || KERNEL_FOLDERS.some((folder) => isWithin(real, folder))) continue;
      const folder = real === root ? undefined : await this.#files.realPath(dirname(root));
      if (folder === undefined || !direct.some((other) => isWithin(folder, other))) reals.add(real);
    }
    return [...reals];
  }

  /** The real path of a root; undefined if it cannot be resolved, or resolves to another path than before. */
  async #resolve(root: string): Promise<string | undefined> {
    const real = await this.#files.realPath(root).catch(() => undefined);
    if (real === undefined) return undefined;
    const first = this.#firstPaths.get(root) ?? real;
    this.#firstPaths.set(root, first);
    return first === real ? real : undefined;
  }
}
