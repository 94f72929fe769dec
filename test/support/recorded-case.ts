// Reads the cases of test/scenario/recorded: requests to the Codex CLI and everything that it sent, in order. The
// README there describes the format.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LONG } from "./long-form.ts";

/** Transports that each case is played on. A second client follows on a WebSocket in any case. */
export const TRANSPORTS: readonly string[] = LONG ? ["stdio", "ws"] : ["stdio"];

const FOLDER = join(import.meta.dirname, "../scenario/recorded");

export type Step =
  /** The client calls a method, or answers the last question (`answer`). `params` is JSON with placeholders. */
  | { readonly kind: "client"; readonly method: string; readonly params: string }
  /** The model replies with a call of a tool, or says something (`say`). `args` is JSON with placeholders. */
  | { readonly kind: "model"; readonly tool: string; readonly args: string }
  /** A file of the workspace is written. */
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  /** A picture is put into the workspace. */
  | { readonly kind: "picture"; readonly path: string }
  /** The workspace becomes a git repository that contains all its files. */
  | { readonly kind: "git" }
  /** The host sends this. */
  | { readonly kind: "host"; readonly line: string }
  /** An MCP server of the thread gets into this state. */
  | { readonly kind: "status"; readonly server: string; readonly status: string }
  /** A program that a client started writes this text, among others. */
  | { readonly kind: "output"; readonly process: string; readonly text: string };

export interface RecordedCase {
  readonly name: string;
  /** For `thread/start`; undefined for a case without a thread. */
  readonly thread: object | undefined;
  readonly steps: readonly Step[];
}

/** The program whose order the cases have: lines with `+` count for Bobbin only, lines with `-` for the Codex CLI only. */
type Sender = "bobbin" | "codex";

export function readCases(sender: Sender): readonly RecordedCase[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .map((file) => readCase(file.slice(0, -".txt".length), readFileSync(join(FOLDER, file), "utf8"), sender));
}

const allCases = readCases("bobbin");

/** Cases with MCP servers, which the others do not have. */
export const recordedMcpCases = allCases.filter(hasMcp);
export const recordedCases = allCases.filter((one) => !hasMcp(one));

export function hasMcp({ name }: RecordedCase): boolean {
  return name.startsWith("mcp-");
}

/**
 * The settings with which the cases were recorded. The folders of the tests are below /tmp: what is outside of the
 * workspace has to be outside of the sandbox, too.
 */
export const RECORDED_CONFIG: readonly string[] = [
  "sandbox_workspace_write.exclude_slash_tmp = true",
  "sandbox_workspace_write.exclude_tmpdir_env_var = true",
];
/** The permission profile of the cases that name it. It goes below all other keys. */
export const RECORDED_PROFILE: readonly string[] = [
  "[permissions.net]",
  'extends = ":workspace"',
  "[permissions.net.network]",
  "enabled = true",
  "[permissions.net.network.domains]",
  '"listed.example" = "allow"',
];
export const RECORDED_ENVIRONMENT = {
  SHELL: "/bin/bash",
  OPENAI_API_KEY: "sk-secret",
  MY_SECRET_TOKEN: "t",
  PLAIN_VAR: "p",
};

function readCase(name: string, text: string, sender: Sender): RecordedCase {
  let thread: object | undefined;
  const steps: Step[] = [];
  const lines = text.split("\n").filter((line) => line !== "");
  /** Whether this program sends the last line before a step. */
  let isSent = true;
  for (const [at, line] of lines.entries()) {
    const [word = "", first = "", rest = ""] = split(line);
    if (word === "<") isSent = true;
    if (word === "thread") thread = JSON.parse(`${first} ${rest}`);
    else if (word === "git") steps.push({ kind: "git" });
    else if (word === "file") steps.push({ kind: "file", path: first, text: JSON.parse(rest) });
    else if (word === "picture") steps.push({ kind: "picture", path: first });
    else if (line.startsWith("> answer ") && !isSent) continue;
    else if (word === ">") steps.push({ kind: "client", method: first, params: rest || "{}" });
    else if (word === "model") steps.push({ kind: "model", tool: first, args: rest });
    else if (word === "output") steps.push({ kind: "output", process: first, text: JSON.parse(rest) });
    else if (word === "status") steps.push({ kind: "status", server: first, status: rest });
    else if (word === "<") steps.push({ kind: "host", line: line.slice(2) });
    else if (word === "+" || word === "-") {
      const [, different, reason] = /^. (.+?) +# (.+)$/.exec(line) ?? [];
      if (reason === undefined) throw new Error(`${name}:${at + 1}: a difference needs a reason: ${line}`);
      isSent = (word === "+") === (sender === "bobbin");
      // A question that only the Codex CLI asks is answered as the one before.
      if (isSent && different === "serverRequest/resolved" && isQuestion(steps.at(-1)))
        steps.push(lastAnswer(steps));
      if (isSent) steps.push({ kind: "host", line: different! });
    } else throw new Error(`${name}:${at + 1}: unknown line: ${line}`);
  }
  return { name, thread, steps };
}

function isQuestion(step: Step | undefined): boolean {
  return step?.kind === "host" && step.line.endsWith("/requestApproval");
}

function lastAnswer(steps: readonly Step[]): Step {
  return steps.findLast((step) => step.kind === "client" && step.method === "answer")!;
}

/** Splits a line into its first two words and the rest. */
function split(line: string): readonly string[] {
  return /^(\S+)(?: (\S+)(?: (.*))?)?$/s.exec(line)?.slice(1) ?? [line];
}
