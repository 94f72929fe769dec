import { type Command, Option } from "commander";
import { ACCESS_NOTES, addTurnOptions } from "./turn-options.ts";

export function addExec(bobbin: Command): void {
  const exec = bobbin
    .command("exec")
    .description("Run one turn in the terminal: the answer goes to stdout, everything else to stderr.")
    .argument("[prompt...]", "the prompt; if it is missing or -, it is read from stdin");
  addTurnOptions(exec)
    .option("--resume <thread>", "go on with this thread: its id, the beginning of its id, or its name")
    .option("--last", "go on with the thread of this folder that was used last")
    .option("--json", "print events as JSON lines, instead of the answer")
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
    .option("--strict-config", "stop if the configuration has unknown keys")
    // Accepted and ignored: scripts for the Codex CLI pass it. Bobbin never requires a git repository.
    .addOption(new Option("--skip-git-repo-check").hideHelp())
    .addHelpText("after", NOTES)
    .action(async (words: string[], options, self: Command) => {
      const { exec } = await import("./exec.ts");
      const config = self.optsWithGlobals().config;
      process.exitCode = await exec({ ...options, words, config }, (problem) =>
        self.error(`error: ${problem}`),
      );
    });
}

const NOTES = `${ACCESS_NOTES}
Without a preset, you are asked for approvals on the terminal. If there is no
terminal, they are declined. Answers given in your place are printed on stderr,
and with --json as an event "question.decided".

The turn runs on the host that runs on this home (BOBBIN_HOME, else ~/.bobbin).
If none runs, and with -c, --profile or --strict-config, it runs on a host of
its own that ends with the turn.

Exit code: 0 if the turn completed, 1 if it failed, 2 if the command line is
wrong, 3 if the answer does not match --output-schema, 130 after Ctrl-C (once
interrupts the turn, twice exits at once).

Examples:
  bobbin exec "What can you do?"
  bobbin exec --full-auto "Make the tests pass"      may write in this folder
  git diff | bobbin exec -                           the prompt from stdin
  bobbin exec --last "And now the tests"             goes on where it ended
  bobbin exec --json "Say hello" | jq -r .type       events, for programs
  bobbin exec --full-auto --add-dir ../lib "Use it"  may write in two folders
  bobbin exec -o answer.txt -C ../other "Sum it up"  the answer also to a file
`;
