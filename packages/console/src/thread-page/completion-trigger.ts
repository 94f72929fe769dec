/** The word before the caret for which suggestions are shown. `from`: its start. `to`: the caret. */
export interface CompletionTrigger {
  readonly kind: "file" | "command";
  /** The word without its leading sign. */
  readonly query: string;
  readonly from: number;
  readonly to: number;
}

/** Finds `@word` before the caret, and `/word` at the beginning of the text. */
export function triggerAt(text: string, caret: number): CompletionTrigger | undefined {
  const found = /(?:^\/|(?<=^|\s)@)\S*$/.exec(text.slice(0, caret));
  if (found === null) return undefined;
  const kind = found[0].startsWith("@") ? "file" : "command";
  return { kind, query: found[0].slice(1), from: found.index, to: caret };
}
