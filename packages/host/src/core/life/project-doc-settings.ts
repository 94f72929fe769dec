/** Settings of the search for project docs (AGENTS.md). */
export interface ProjectDocSettings {
  /** Limit on the size of all project docs together. */
  readonly maxBytes: number;
  /** File names that are read in folders without AGENTS.md. */
  readonly fallbackNames: readonly string[];
}

export const USUAL_DOCS: ProjectDocSettings = { maxBytes: 32 * 1024, fallbackNames: [] };
