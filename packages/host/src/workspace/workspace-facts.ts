import type { GitInfo } from "@bobbin/protocol";
import { type ProjectDocSettings, USUAL_DOCS } from "../core/life/project-doc-settings.ts";
import type { ProjectDoc } from "../core/life/records.ts";
import { StampedReads } from "../platform/file-read-cache.ts";
import type { Files } from "../platform/platform.ts";
import { readGitInfo } from "./git-info.ts";
import { readProjectDocs } from "./project-docs.ts";

/** Facts about a folder: its git repository, and the instructions for agents that apply there (AGENTS.md). */
interface WorkspaceFacts {
  readonly gitInfo: GitInfo | null;
  readonly docs: readonly ProjectDoc[];
}

/**
 * Reads the facts about a folder, with a cache, because most threads start in the folder of an earlier one. The
 * files' stamps are compared at each read, so that a changed file is read again.
 */
export class WorkspaceFactsReader {
  readonly #home: string;
  readonly #settings: () => ProjectDocSettings;
  readonly #reads: StampedReads<WorkspaceFacts>;

  constructor(
    files: Pick<Files, "readText" | "exists" | "stamps">,
    home: string,
    settings: () => ProjectDocSettings = () => USUAL_DOCS,
  ) {
    this.#reads = new StampedReads(files);
    this.#home = home;
    this.#settings = settings;
  }

  read(cwd: string, settings = this.#settings()): Promise<WorkspaceFacts> {
    const { maxBytes, fallbackNames } = settings;
    return this.#reads.get([cwd, maxBytes, ...fallbackNames].join("\0"), async (files) => {
      const [gitInfo, docs] = await Promise.all([
        readGitInfo(files, cwd),
        readProjectDocs(files, this.#home, cwd, settings),
      ]);
      return { gitInfo, docs };
    });
  }
}
