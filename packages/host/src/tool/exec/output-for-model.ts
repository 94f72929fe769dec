import { type CutText, cutMiddle } from "./cut-middle.ts";

/** Limits on the output that one call gives to the model, in tokens. */
const DEFAULT_TOKENS = 10_000;
const MAX_TOKENS = 100_000;

/** The facts that the tool output for the model is made of. */
export interface ModelOutput {
  /** Identifies this output; six hexadecimal digits. */
  readonly chunkId: string;
  /** The output since the model's last call. */
  readonly unread: string;
  readonly tookMs: number;
  /** Undefined while the command runs. */
  readonly exitCode: number | undefined;
  readonly processId: string;
  readonly maxTokens: number | undefined;
  /**
   * Saves the whole output. Resolves with a part of a sentence that names the file, and how much of the output is in it;
   * with undefined if there is no file.
   */
  save(): Promise<string | undefined>;
  /** Notes for the model, one line each, before the output: that this machine has no terminals, for example. */
  readonly notes?: readonly string[];
}

/**
 * Formats the output of `exec_command` and `write_stdin` for the model, in the form in which the Codex CLI does: models
 * were trained on it.
 */
export async function modelOutput(of: ModelOutput): Promise<string> {
  const { chunkId, unread, tookMs, exitCode, processId, maxTokens = DEFAULT_TOKENS, notes = [] } = of;
  const budget = Math.min(MAX_TOKENS, Math.max(1, Math.floor(maxTokens)));
  const cut = await cutAndSave(unread, budget, () => of.save());
  return [
    `Chunk ID: ${chunkId}`,
    `Wall time: ${(tookMs / 1000).toFixed(4)} seconds`,
    exitCode === undefined
      ? `Process running with session ID ${processId}`
      : `Process exited with code ${exitCode}`,
    `Original token count: ${cut.tokens}`,
    ...notes,
    "Output:",
    ...(cut.isCut
      ? [
          `Warning: truncated output (original token count: ${cut.tokens})`,
          `Total output lines: ${linesOf(unread)}`,
          "",
        ]
      : []),
    cut.text,
  ].join("\n");
}

/** A number as six hexadecimal digits. */
export function chunkIdOf(random: number): string {
  return (random % 0x1000000).toString(16).padStart(6, "0");
}

function linesOf(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** Shortens a text like `cutMiddle`. If the text is too long, its output is saved, and the cut names the file. */
export async function cutAndSave(
  text: string,
  maxTokens: number,
  save: ModelOutput["save"],
): Promise<CutText> {
  const cut = cutMiddle(text, maxTokens);
  const place = cut.isCut ? await save() : undefined;
  return place === undefined ? cut : cutMiddle(text, maxTokens, `; ${place}`);
}
