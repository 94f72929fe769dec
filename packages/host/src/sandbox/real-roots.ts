import { dirname } from "node:path";
import type { Files } from "../platform/platform.ts";
import { isWithin } from "./access.ts";

/** Parts of the file system that belong to the kernel: a root there is none. */
const KERNEL = ["/proc", "/sys", "/dev"];

/**
 * Where writable roots really are. A root counts as long as it is where it was when it was first used: a command that
 * may write to the folder of a root could put a link in its place, and the next command could write to the link's target.
 */
export class RealRoots {
  readonly #files: Pick<Files, "realPath">;
  readonly #first = new Map<string, string>();

  constructor(files: Pick<Files, "realPath">) {
    this.#files = files;
  }

  /** Those of a command, without the ones that are links inside of another one: somebody confined may have made them. */
  async of(roots: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(roots.map(async (root) => ({ root, real: await this.#resolve(root) })));
    const direct = found.filter(({ root, real }) => root === real).map(({ root }) => root);
    const reals = new Set<string>();
    for (const { root, real } of found) {
      if (real === undefined || KERNEL.some((folder) => isWithin(real, folder))) continue;
      const folder = real === root ? undefined : await this.#files.realPath(dirname(root));
      if (folder === undefined || !direct.some((other) => isWithin(folder, other))) reals.add(real);
    }
    return [...reals];
  }

  /** Undefined for a root that cannot be resolved, or that leads elsewhere than before. */
  async #resolve(root: string): Promise<string | undefined> {
    const real = await this.#files.realPath(root).catch(() => undefined);
    if (real === undefined) return undefined;
    const first = this.#first.get(root) ?? real;
    this.#first.set(root, first);
    return first === real ? real : undefined;
  }
}
