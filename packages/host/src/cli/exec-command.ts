import { type Command, Option } from "commander";
import type { ExecOptions, ExecWork } from "./exec.ts";
import { addExecReview } from "./exec-review-command.ts";
import { repeatableOption } from "./repeatable-option.ts";
import { ACCESS_NOTES, addTurnOptions } from "./turn-options.ts";

export function addExec(bobbin: Command): void {
  const exec = bobbin
    .command("exec")
    .alias("e")
    .description("Run one turn in the terminal: the answer goes to stdout, everything else to stderr.")
    // Takes several, to refuse them with better advice than the parser's.
    .argument("[prompt...]", "the prompt, in quotes; if it is missing or -, it is read from stdin");
  addTurnOptions(exec)
    .option("--resume <thread>", "go on with this thread: its id, the beginning of its id, or its name")
    .option("--last", "go on with the thread of this folder that was used last")
    .addOption(repeatableOption("-i, --image <file>", "attach this image to the prompt; repeat for several"))
    .option("--json", "print events as JSON lines, instead of the answer")
    .addOption(new Option("--experimental-json", "the older name of --json").hideHelp())
    .option("--output-schema <file>", "file with a JSON Schema that the answer must match")
    .option("-o, --output-last-message <file>", "also write the answer to this file")
    .option("--ephemeral", "do not save the thread")
    .option("--approve", "approve everything without asking")
    .addOption(
      new Option(
        "--answer <how>",
        "how to answer questions: with their first option, or with the asking tool's default (without --answer: ask on the terminal)",
      ).choices(["first", "default"]),
    )
    .addOption(new Option("--color <when>", "when to use colors").choices(["always", "never", "auto"]))
    .option("--thread-source <source>", "what clients are shown as the source of a new thread")
    .option("--strict-config", "stop if the configuration has unknown keys")
    // Accepted and ignored: scripts for the Codex CLI pass it. Bobbin never requires a git repository.
    .addOption(new Option("--skip-git-repo-check").hideHelp())
    .helpCommand("help [command]", "show help for a command")
    .addHelpText("after", NOTES)
    .action(async ([prompt, more]: readonly string[], _options, self: Command) => {
      if (more !== undefined)
        self.error(
          `error: exec has no command ${JSON.stringify(prompt)}. If it begins the prompt, put the whole prompt in quotes.`,
        );
      await runExec(self, { prompt });
    });
  addResume(exec);
  addFork(exec);
  addExecReview(exec, runExec);
}

function addResume(exec: Command): void {
  exec
    .command("resume")
    .description("Go on with an earlier thread. The options of bobbin exec apply, too.")
    .argument("[thread]", "its id, the beginning of its id, or its name; left out with --last")
    .argument("[prompt]", "the prompt; if it is missing or -, it is read from stdin")
    .option("--last", "the thread of this folder that was used last")
    .option("--all", "with --last: the one that was used last in any folder")
    .action(async (thread: string | undefined, prompt: string | undefined, _options, self: Command) => {
      const { last = false, all = false } = self.optsWithGlobals<{ last?: boolean; all?: boolean }>();
      if (all && !last) self.error("error: --all is for --last");
      if (last) {
        if (prompt !== undefined)
          self.error("error: --last takes no thread, only a prompt, which must be one argument");
        return runExec(self, { prompt: thread, all });
      }
      if (thread === undefined)
        self.error("error: name the thread to go on with, or say --last for the last one of this folder");
      return runExec(self, { prompt, resume: oneThread(self, "resume", thread) });
    });
}

function addFork(exec: Command): void {
  exec
    .command("fork")
    .description(
      "Go on in a copy of an earlier thread. The options of bobbin exec apply, too. (bobbin threads fork only copies it.)",
    )
    .argument("<thread>", "its id, the beginning of its id, or its name")
    .argument("<prompt>", "the prompt; if it is -, it is read from stdin")
    .action(async (thread: string, prompt: string, _options, self: Command) => {
      await runExec(self, { prompt, fork: oneThread(self, "fork", thread) });
    });
}

/** Refuses a thread that a subcommand names, if an option names one, too. */
function oneThread(self: Command, command: string, thread: string): string {
  const { resume, last } = self.optsWithGlobals<ExecOptions>();
  if (resume !== undefined || last)
    self.error(`error: ${command} ${thread} and ${last ? "--last" : "--resume"} contradict each other`);
  return thread;
}

async function runExec(self: Command, more: ExecWork): Promise<void> {
  const { exec } = await import("./exec.ts");
  const { json, experimentalJson, ...options } = self.optsWithGlobals();
  process.exitCode = await exec(
    { ...options, ...more, json: json === true || experimentalJson === true },
    (problem) => self.error(`error: ${problem}`),
  );
}

const NOTES = `${ACCESS_NOTES}
Without a preset, you are asked for approvals on the terminal. If there is no
terminal, they are declined. Answers given in your place are printed on stderr,
and with --json as an event "question.decided".

The turn runs on the host that runs on this home (see bobbin --help). If none
runs, and with -c, --profile or --strict-config, it runs on a host of its own
that ends with the turn.

Exit code: 0 if the turn completed, 1 if it failed, 2 if the command line is
wrong, 3 if the answer does not match --output-schema, 130 after Ctrl-C (once
interrupts the turn, twice exits at once).

Scripts for codex exec run unchanged: its options and its commands resume, fork
and review are taken, and its events and the line "session id: ..." are printed.

Examples:
  bobbin exec "What can you do?"
  bobbin exec --full-auto "Make the tests pass"      may write in this folder
  git diff | bobbin exec -                           the prompt from stdin
  bobbin exec resume --last "And now the tests"      goes on where it ended
  bobbin exec review --base main                     reviews this branch
  bobbin exec --json "Say hello" | jq -r .type       events, for programs
  bobbin exec --full-auto --add-dir ../lib "Use it"  may write in two folders
  bobbin exec -i screen.png "What is wrong here?"    with an image
  bobbin exec -o answer.txt -C ../other "Sum it up"  the answer also to a file
`;
