// Reads the cases of test/scenario/recorded: what the Codex CLI was asked and what it sent, in order. The README there
// describes the format.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../scenario/recorded");

export type Step =
  /** The client calls a method, or answers the last question (`answer`). `params` is JSON with placeholders. */
  | { readonly kind: "client"; readonly method: string; readonly params: string }
  /** The model replies with a call of a tool, or says something (`say`). `args` is JSON with placeholders. */
  | { readonly kind: "model"; readonly tool: string; readonly args: string }
  /** A file of the workspace is written. */
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  /** The workspace becomes a git repository, with what is in it. */
  | { readonly kind: "git" }
  /** The host sends this. */
  | { readonly kind: "host"; readonly line: string }
  /** A program that a client started writes this, among other things. */
  | { readonly kind: "output"; readonly processId: string; readonly text: string };

export interface RecordedCase {
  readonly name: string;
  /** For `thread/start`; undefined for a case without a thread. */
  readonly thread: object | undefined;
  readonly steps: readonly Step[];
}

export const recordedCases: readonly RecordedCase[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".txt"))
  .sort()
  .map((file) => readCase(file.slice(0, -".txt".length), readFileSync(join(FOLDER, file), "utf8")));

function readCase(name: string, text: string): RecordedCase {
  let thread: object | undefined;
  const steps: Step[] = [];
  const lines = text.split("\n").filter((line) => line !== "");
  for (const [at, line] of lines.entries()) {
    const [word = "", first = "", rest = ""] = split(line);
    if (word === "thread") thread = JSON.parse(`${first} ${rest}`);
    else if (word === "git") steps.push({ kind: "git" });
    else if (word === "file") steps.push({ kind: "file", path: first, text: JSON.parse(rest) });
    else if (word === ">") steps.push({ kind: "client", method: first, params: rest || "{}" });
    else if (word === "model") steps.push({ kind: "model", tool: first, args: rest });
    else if (word === "output") steps.push({ kind: "output", processId: first, text: JSON.parse(rest) });
    else if (word === "<") steps.push({ kind: "host", line: line.slice(2) });
    else if (word === "+" || word === "-") {
      const [, different, reason] = /^. (.+?) +# (.+)$/.exec(line) ?? [];
      if (reason === undefined) throw new Error(`${name}:${at + 1}: a difference needs a reason: ${line}`);
      if (word === "+") steps.push({ kind: "host", line: different! });
    } else throw new Error(`${name}:${at + 1}: unknown line: ${line}`);
  }
  return { name, thread, steps };
}

/** The first two words and the rest of a line. */
function split(line: string): readonly string[] {
  return /^(\S+)(?: (\S+)(?: (.*))?)?$/s.exec(line)?.slice(1) ?? [line];
}
