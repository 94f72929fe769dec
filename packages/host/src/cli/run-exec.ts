import { readFile, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { messageOf } from "../errors.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import { logFor } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { type AccessOptions, readAccess } from "./exec-access.ts";
import { JsonReport } from "./exec-json.ts";
import { readPrompt } from "./exec-prompt.ts";
import type { AnswerPolicy } from "./exec-questions.ts";
import { TerminalPerson } from "./exec-terminal.ts";
import { TextReport } from "./exec-text.ts";
import { askTrust } from "./exec-trust.ts";
import { execTurn, type TurnOutcome } from "./exec-turn.ts";
import { checkHome } from "./home-check.ts";
import { modelProblem } from "./model-problem.ts";
import { onSignals } from "./signals.ts";
import { Output } from "./terminal.ts";

export interface ExecOptions extends AccessOptions {
  readonly words: readonly string[];
  readonly config?: readonly string[];
  readonly model?: string;
  readonly cd?: string;
  readonly json?: boolean;
  readonly outputSchema?: string;
  readonly outputLastMessage?: string;
  readonly ephemeral?: boolean;
  readonly answer?: NonNullable<AnswerPolicy["answer"]>;
}

/** Wrong usage: told as the command line tells it. */
type Refuse = (problem: string) => never;

/** One turn in the terminal. Resolves with the exit code. */
export async function exec(options: ExecOptions, refuse: Refuse): Promise<number> {
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  // The host's own timers keep no process alive; the turn does.
  const alive = setInterval(() => {}, 2 ** 30);
  const signals = onSignals({
    told: () => {
      // On a terminal, ^C was echoed into the running line.
      stderr.line(`${stderr.isTerminal ? "\n" : ""}Interrupting; Ctrl-C again leaves at once.`);
    },
    again: (code) => process.exit(code),
  });
  try {
    const outcome = await run(options, refuse, signals.first, stdout, stderr);
    await stdout.flushed();
    if (stdout.failure) stderr.line(`bobbin: cannot write to stdout: ${stdout.failure.message}`);
    if (outcome?.status === "interrupted") return signals.exitCode ?? 1;
    if (outcome?.status !== "completed") return 1;
    const kept = await keepAnswer(outcome.answer, options.outputLastMessage, stderr);
    return kept && !stdout.failure ? 0 : 1;
  } catch (cause) {
    // Interrupted before there was a turn.
    if (signals.first.aborted && cause === signals.first.reason) return signals.exitCode ?? 1;
    throw cause;
  } finally {
    signals.stop();
    clearInterval(alive);
    await stderr.flushed();
  }
}

/** Undefined when it failed, which was told then. */
async function run(
  options: ExecOptions,
  refuse: Refuse,
  signal: AbortSignal,
  stdout: Output,
  stderr: Output,
): Promise<TurnOutcome | undefined> {
  const home = homeDirectory();
  const platform = nodePlatform();
  // As in config.toml, the model may imply its provider.
  const model = options.model === undefined ? [] : [`model=${JSON.stringify(options.model)}`];
  const overrides = [...(options.config ?? []), ...model];
  const configured = await loadConfig(platform.files, home, overrides);
  // Other providers say themselves what is wrong; the offline model would answer to any name.
  const problem =
    configured.modelProvider === OFFLINE_MODEL ? modelProblem(configured, process.env) : undefined;
  if (problem !== undefined) return refuse(`${problem.found}\n${problem.advice}`);
  const access = readAccess(options);
  if (typeof access === "string") return refuse(access);
  const cwd = await readFolder(options.cd, refuse);
  const outputSchema = await readSchema(options.outputSchema, refuse);
  const prompt = await readPrompt(options.words, process.stdin, signal);
  if (typeof prompt === "string") return refuse(prompt);
  const log = logFor(process.env, "warn", (text) => stderr.write(text));
  const report = options.json
    ? new JsonReport((event) => stdout.line(JSON.stringify(event)))
    : new TextReport(stdout, stderr);
  const person = TerminalPerson.at(process.stdin, stderr);
  try {
    const { projects } = configured;
    const hasChanged = person && (await askTrust({ platform, home, projects }, cwd, person, signal));
    signal.throwIfAborted();
    const config = hasChanged ? await loadConfig(platform.files, home, overrides) : configured;
    return await execTurn(
      { home, cwd, config, platform, log },
      {
        prompt: prompt.text,
        ephemeral: options.ephemeral ?? false,
        outputSchema,
        access,
        policy: { approve: options.approve ?? false, answer: options.answer, person },
        signal,
      },
      report,
    );
  } catch (cause) {
    signal.throwIfAborted();
    const message = (await homeTrouble(home)) ?? messageOf(cause);
    report.failed(message);
    // In JSON the program was told, and the person was not.
    if (options.json) stderr.line(`bobbin: ${message}`);
    return undefined;
  } finally {
    person?.close();
  }
}

/** A home that cannot be written to is what a person has to know about a thread that could not be saved. */
async function homeTrouble(home: string): Promise<string | undefined> {
  const { problem, undo } = await checkHome(home);
  await undo();
  return problem && `${problem.found}. ${problem.advice} With --ephemeral nothing is saved.`;
}

async function readFolder(asked: string | undefined, refuse: Refuse): Promise<string> {
  const folder = resolve(asked ?? "");
  const found = await stat(folder).catch(() => undefined);
  if (!found) return refuse(`--cd ${asked}: there is no folder ${folder}`);
  if (!found.isDirectory()) return refuse(`--cd ${asked}: ${folder} is not a folder`);
  return folder;
}

async function readSchema(file: string | undefined, refuse: Refuse): Promise<unknown> {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    return refuse(`--output-schema ${file}: cannot be read (${(cause as Error).message})`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    return refuse(`--output-schema ${file}: not JSON (${(cause as Error).message})`);
  }
}

async function keepAnswer(
  answer: string | undefined,
  file: string | undefined,
  stderr: Output,
): Promise<boolean> {
  if (file === undefined) return true;
  if (answer === undefined) stderr.line(`bobbin: the turn has no answer: ${file} will be empty`);
  try {
    await writeFile(file, answer ?? "");
    return true;
  } catch (cause) {
    stderr.line(`bobbin: --output-last-message ${file}: cannot be written (${(cause as Error).message})`);
    return false;
  }
}
