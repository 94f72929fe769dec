import type { GitInfo } from "@bobbin/protocol";
import { type ProjectDocSettings, USUAL_DOCS } from "../core/life/project-docs.ts";
import type { ProjectDoc } from "../core/life/records.ts";
import type { Files } from "../platform/platform.ts";
import { readGitInfo } from "./git-info.ts";
import { readProjectDocs } from "./project-docs.ts";

/** What is around a folder: the repository, and the instructions for those who work there. */
interface Surroundings {
  readonly gitInfo: GitInfo | null;
  readonly docs: readonly ProjectDoc[];
}

interface Known extends Surroundings {
  /** All that was looked at, also where nothing was. */
  readonly paths: ReadonlySet<string>;
  /** From before it was read: whatever has changed since shows. */
  readonly stamps: readonly number[] | undefined;
}

/** Folders that are remembered; past that, all are forgotten. */
const MAX_KNOWN = 64;

/**
 * Looks around a folder. Most threads are started where others were, and where nothing has changed since: then what
 * was read is told again after a glance at the files' stamps.
 */
export class LookAround {
  readonly #files: Pick<Files, "readText" | "exists" | "stamps">;
  readonly #home: string;
  readonly #settings: () => ProjectDocSettings;
  readonly #known = new Map<string, Known>();
  /** What was known was looked for by these. */
  #lookedBy: ProjectDocSettings | undefined;

  constructor(
    files: Pick<Files, "readText" | "exists" | "stamps">,
    home: string,
    settings: () => ProjectDocSettings = () => USUAL_DOCS,
  ) {
    this.#files = files;
    this.#home = home;
    this.#settings = settings;
  }

  async at(cwd: string): Promise<Surroundings> {
    const settings = this.#settings();
    if (settings !== this.#lookedBy) this.#known.clear();
    this.#lookedBy = settings;
    const known = this.#known.get(cwd);
    const stamps = known && (await this.#files.stamps([...known.paths]).catch(() => undefined));
    if (known?.stamps !== undefined && isSame(known.stamps, stamps)) return known;
    const paths = new Set<string>();
    const noting: Pick<Files, "readText" | "exists"> = {
      readText: (path) => this.#files.readText(paths.add(path) && path),
      exists: (path) => this.#files.exists(paths.add(path) && path),
    };
    const [gitInfo, docs] = await Promise.all([
      readGitInfo(noting, cwd),
      readProjectDocs(noting, this.#home, cwd, settings),
    ]);
    // The first time it was not known yet what to look at.
    const covered = known !== undefined && [...paths].every((path) => known.paths.has(path));
    const now = { gitInfo, docs, paths: covered ? known.paths : paths, stamps: covered ? stamps : undefined };
    if (settings !== this.#lookedBy) return now;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(cwd, now);
    return now;
  }
}

function isSame(one: readonly number[], other: readonly number[] | undefined): boolean {
  return one.length === other?.length && one.every((value, at) => value === other[at]);
}
