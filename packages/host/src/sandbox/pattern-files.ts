import { join } from "node:path";
import type { Clock, Files } from "../platform/platform.ts";

/** A search that finds no end would let a file be missed: a command is rather not run. */
const MOST_ENTRIES = 200_000;
/** A search is used again for a while: commands come in quick succession, and a folder may be large. */
const REUSE_MS = 10_000;

interface Search {
  readonly folder: string;
  readonly pattern: string;
  readonly depth: number;
}

/** Finds files by patterns with `*`, `**`, `?` and `[…]`. */
export class PatternFiles {
  readonly #files: Pick<Files, "list">;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #found = new Map<string, { readonly at: number; readonly paths: Promise<readonly string[]> }>();

  constructor(files: Pick<Files, "list">, clock: Pick<Clock, "monotonic">) {
    this.#files = files;
    this.#clock = clock;
  }

  find(search: Search): Promise<readonly string[]> {
    const key = JSON.stringify(search);
    const now = this.#clock.monotonic();
    const known = this.#found.get(key);
    if (known !== undefined && now - known.at < REUSE_MS) return known.paths;
    const paths = this.#search(search);
    this.#found.set(key, { at: now, paths });
    paths.catch(() => this.#found.delete(key));
    return paths;
  }

  async #search({ folder, pattern, depth }: Search): Promise<readonly string[]> {
    const matches = matcher(pattern);
    const found: string[] = [];
    let entries = 0;
    let level: readonly string[] = [""];
    for (let deep = 0; deep < depth && level.length > 0; deep++) {
      const next: string[] = [];
      for (const below of level) {
        const list = await this.#files.list(join(folder, below)).catch(() => []);
        entries += list.length;
        if (entries > MOST_ENTRIES)
          throw new Error(`${join(folder, pattern)} is looked for in too many files; name a smaller folder`);
        for (const entry of list) {
          const path = below === "" ? entry.name : `${below}/${entry.name}`;
          if (matches(path)) found.push(join(folder, path));
          // What is in a folder that matches is covered by it.
          else if (entry.folder) next.push(path);
        }
      }
      level = next;
    }
    return found;
  }
}

function matcher(pattern: string): (path: string) => boolean {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[\\^$.|+(){}[\]]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${part}`;
  });
  const expression = new RegExp(`^${source}$`, "s");
  return (path) => expression.test(path);
}
