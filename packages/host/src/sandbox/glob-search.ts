import { join } from "node:path";
import { eachFewAtOnce } from "../platform/concurrency-limit.ts";
import type { Files } from "../platform/platform.ts";

/** Limit on the entries of one search. Beyond it, the command is not run, because a denied file could be missed. */
const MAX_ENTRIES = 200_000;
/** Folders that are read at once. */
const FOLDERS_AT_ONCE = 8;

interface Search {
  readonly folder: string;
  readonly pattern: string;
  readonly depth: number;
}

/**
 * Finds files by a glob pattern (`*`, `**`, `?`, `[…]`), for rules that deny them. No result is reused for another
 * command, because a file that was created since must be denied, too.
 */
export async function findByGlob(
  files: Pick<Files, "list">,
  { folder, pattern, depth }: Search,
): Promise<readonly string[]> {
  const matches = matcher(pattern);
  const found: string[] = [];
  let entries = 0;
  let level: readonly string[] = [""];
  for (let deep = 0; deep < depth && level.length > 0; deep++) {
    const next: string[] = [];
    await eachFewAtOnce(FOLDERS_AT_ONCE, level, async (below) => {
      const list = await files.list(join(folder, below)).catch(() => []);
      entries += list.length;
      if (entries > MAX_ENTRIES)
        throw new Error(`${join(folder, pattern)} is looked for in too many files; name a smaller folder`);
      for (const entry of list) {
        const path = below === "" ? entry.name : `${below}/${entry.name}`;
        if (matches(path)) found.push(join(folder, path));
        // A matching folder covers the entries inside it.
        else if (entry.folder) next.push(path);
      }
    });
    level = next;
  }
  return found.sort();
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
