/** How files of instructions are looked for. */
export interface ProjectDocSettings {
  /** How large all of them together are, at most. */
  readonly maxBytes: number;
  /** What is taken in a folder of the project that has none of the usual names. */
  readonly fallbackNames: readonly string[];
}

export const USUAL_DOCS: ProjectDocSettings = { maxBytes: 32 * 1024, fallbackNames: [] };
