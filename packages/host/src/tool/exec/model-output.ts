import { cutMiddle } from "./cut-middle.ts";

const DEFAULT_TOKENS = 10_000;
const MAX_TOKENS = 100_000;

/** What the model is shown of a command's output. */
export interface ModelOutput {
  /** What the command has written since the model last looked. */
  readonly unread: string;
  readonly tookMs: number;
  /** Its exit code; undefined while it runs. */
  readonly exitCode: number | undefined;
  readonly processId: string;
  readonly maxTokens: number | undefined;
  /** Where all of its output is, if that is long. */
  readonly path: string | undefined;
  /** What else the model has to know, in a line. */
  readonly note?: string | undefined;
}

export function modelOutput(of: ModelOutput): string {
  const { unread, tookMs, exitCode, processId, maxTokens = DEFAULT_TOKENS, path, note } = of;
  const budget = Math.min(MAX_TOKENS, Math.max(1, Math.floor(maxTokens)));
  const cut = cutMiddle(unread, budget, path === undefined ? "" : `; the whole output is in ${path}`);
  return [
    exitCode === undefined
      ? `The command is still running with session ID ${processId}.`
      : `The command ended with exit code ${exitCode}.`,
    `Waited: ${(tookMs / 1000).toFixed(1)} seconds`,
    ...(cut.isCut ? [`Tokens before the output was cut: ${cut.tokens}`] : []),
    ...(note === undefined ? [] : [note]),
    "Output:",
    cut.text,
  ].join("\n");
}
