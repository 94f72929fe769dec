import { stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ReviewTarget } from "@bobbin/protocol";
import { messageOf } from "../errors.ts";
import { logFor } from "../observe/log.ts";
import { JsonReport } from "./exec-json-report.ts";
import { readOutputSchema, unwritable } from "./exec-output-options.ts";
import { readPromptInput } from "./exec-prompt-input.ts";
import type { AnswerPolicy } from "./exec-question-answers.ts";
import { TextReport } from "./exec-text-report.ts";
import { execTurn, type Resume, type TurnOutcome, type TurnWork } from "./exec-turn.ts";
import { checkHome } from "./home-check.ts";
import { onStopSignals } from "./stop-signals.ts";
import { type ColorChoice, escapeControls, Output } from "./terminal-output.ts";
import { TerminalUser } from "./terminal-questions.ts";
import { type Refuse, readTurnSetup, type TurnOptions } from "./turn-setup.ts";

/** What the turn is to do, and in which thread. */
export interface ExecWork {
  /** Undefined or `-`: read from stdin. */
  readonly prompt: string | undefined;
  /** What to review instead of sending a message; `prompt`: what the prompt says. */
  readonly review?: ReviewTarget | "prompt";
  /** The thread to continue, as the user names it. */
  readonly resume?: string;
  /** Whether to continue the thread that was used last in this folder. */
  readonly last?: boolean;
  /** With `last`: the thread that was used last in any folder. */
  readonly all?: boolean;
  /** The thread to continue in a fork, as the user names it. */
  readonly fork?: string;
}

export interface ExecOptions extends TurnOptions, ExecWork {
  /** Files, or several of them with commas between. */
  readonly image?: readonly string[];
  readonly json?: boolean;
  readonly color?: ColorChoice;
  readonly outputSchema?: string;
  readonly outputLastMessage?: string;
  readonly ephemeral?: boolean;
  readonly threadSource?: string;
  readonly answer?: NonNullable<AnswerPolicy["answer"]>;
}

/** The exit code for an answer that does not match the schema. */
const MISMATCH = 3;

/** Runs `bobbin exec`: one turn in the terminal. Resolves with the exit code. */
export async function exec(options: ExecOptions, refuse: Refuse): Promise<number> {
  const stdout = new Output(process.stdout, options.color);
  const stderr = new Output(process.stderr, options.color);
  // Keeps the process alive during the turn: the host's timers do not.
  const alive = setInterval(() => {}, 2 ** 30);
  const signals = onStopSignals({
    onFirst: () => {
      // The terminal has echoed ^C into the current line, so the message begins on a new line.
      stderr.line(`${stderr.isTerminal ? "\n" : ""}Interrupting; Ctrl-C again exits at once.`);
    },
    onSecond: (code) => process.exit(code),
  });
  try {
    const outcome = await run(options, refuse, signals.first, stdout, stderr);
    await stdout.flushed();
    if (stdout.failure) stderr.line(`bobbin: cannot write to stdout: ${stdout.failure.message}`);
    if (outcome?.status === "interrupted") return signals.exitCode ?? 1;
    if (outcome?.status !== "completed") return 1;
    if (outcome.violation !== undefined) {
      const unwritten =
        options.outputLastMessage === undefined ? "" : ` ${options.outputLastMessage} was not written.`;
      stderr.line(
        stderr.red(
          `bobbin: the answer does not match --output-schema: ${escapeControls(outcome.violation)}.${unwritten}`,
        ),
      );
      return MISMATCH;
    }
    const kept = await writeAnswer(outcome.answer, options.outputLastMessage, stderr);
    return kept && !stdout.failure ? 0 : 1;
  } catch (cause) {
    // The user interrupted the command before the turn began.
    if (signals.first.aborted && cause === signals.first.reason) return signals.exitCode ?? 1;
    throw cause;
  } finally {
    signals.stop();
    clearInterval(alive);
    await stderr.flushed();
  }
}

/** Runs the turn. If it fails, reports the failure and resolves with undefined. */
async function run(
  options: ExecOptions,
  refuse: Refuse,
  signal: AbortSignal,
  stdout: Output,
  stderr: Output,
): Promise<(TurnOutcome & { readonly violation: string | undefined }) | undefined> {
  const { home, cwd, access, addedRoots, mayRunElsewhere, hostOptions } = await readTurnSetup(
    options,
    refuse,
  );
  const { resume: resumed, last, ephemeral = false } = options;
  if (resumed !== undefined && last) return refuse("--resume and --last contradict each other");
  if ((resumed !== undefined || last) && ephemeral)
    return refuse("--ephemeral is for new threads: the earlier turns of this one are saved");
  if (options.review !== undefined && (resumed !== undefined || last))
    return refuse("a review has a thread of its own: leave out --resume and --last");
  if (options.review !== undefined && (options.image !== undefined || options.outputSchema !== undefined))
    return refuse("a review takes no --image and no --output-schema");
  const images = await readImages(options.image ?? [], refuse);
  const schema = await readSchema(options.outputSchema, refuse);
  const answerFile = options.outputLastMessage;
  const why = answerFile === undefined ? undefined : await unwritable(answerFile);
  if (why !== undefined) return refuse(`--output-last-message ${answerFile}: cannot be written: ${why}`);
  const work = await readWork(options, images, refuse, signal);
  // The report shows warnings of the thread: the log would show them again.
  const log = logFor(process.env, "error", (text) => stderr.write(text));
  const report = options.json
    ? new JsonReport((event) => stdout.line(JSON.stringify(event)))
    : new TextReport(stdout, stderr, { sessionLine: true });
  const person = TerminalUser.at(process.stdin, stderr);
  try {
    const host = await hostOptions(person, signal, log);
    signal.throwIfAborted();
    const folder = options.cd === undefined ? undefined : cwd;
    const outcome = await execTurn(
      host,
      {
        work,
        ephemeral,
        threadSource: options.threadSource,
        outputSchema: schema?.schema,
        model: options.model,
        mayRunElsewhere,
        resume: earlierThread(options, cwd, folder),
        access,
        addedRoots,
        policy: { approve: options.approve ?? false, answer: options.answer, person },
        signal,
      },
      report,
    );
    return { ...outcome, violation: schema?.violationOf(outcome.answer ?? "") };
  } catch (cause) {
    signal.throwIfAborted();
    const message = (await homeProblem(home)) ?? messageOf(cause);
    report.failed(message);
    // The JSON event is for programs; this line is for people.
    if (options.json) stderr.line(`bobbin: ${message}`);
    return undefined;
  } finally {
    person?.close();
  }
}

function earlierThread(
  { resume, last, all, fork }: ExecOptions,
  cwd: string,
  folder: string | undefined,
): Resume | undefined {
  if (fork !== undefined) return { id: fork, cwd: folder, isForked: true };
  if (resume !== undefined) return { id: resume, cwd: folder };
  if (last) return { lastIn: all ? undefined : cwd, cwd: all ? folder : undefined };
  return undefined;
}

/** Reads the prompt, unless options say what to review. */
async function readWork(
  { prompt, review }: ExecOptions,
  images: readonly string[],
  refuse: Refuse,
  signal: AbortSignal,
): Promise<TurnWork> {
  if (review !== undefined && review !== "prompt") return { review };
  const read = await readPromptInput(prompt, process.stdin, signal);
  if (typeof read === "string") return refuse(read);
  if (review === "prompt") return { review: { type: "custom", instructions: read.text } };
  return {
    input: [
      ...images.map((path) => ({ type: "localImage", path }) as const),
      { type: "text", text: read.text },
    ],
  };
}

/** Resolves with the paths of images, after a check that each is a file. */
async function readImages(given: readonly string[], refuse: Refuse): Promise<readonly string[]> {
  return Promise.all(
    given
      .flatMap((list) => list.split(","))
      .map(async (name) => {
        const path = resolve(name);
        const found = await stat(path).catch(() => undefined);
        return found?.isFile() ? path : refuse(`--image ${name}: there is no file ${path}`);
      }),
  );
}

/** Explains that the home is not writable, if so: that causes most failures to save a thread. */
async function homeProblem(home: string): Promise<string | undefined> {
  const { problem, undo } = await checkHome(home);
  await undo();
  return problem && `${problem.found}. ${problem.advice} With --ephemeral nothing is saved.`;
}

async function readSchema(file: string | undefined, refuse: Refuse) {
  if (file === undefined) return undefined;
  const read = await readOutputSchema(file);
  return typeof read === "string" ? refuse(`--output-schema ${file}: ${read}`) : read;
}

async function writeAnswer(
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
