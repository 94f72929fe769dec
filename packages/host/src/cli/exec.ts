import { type Command, Option } from "commander";

export function addExec(bobbin: Command): void {
  bobbin
    .command("exec")
    .description("Run one turn in the terminal: the answer goes to stdout, everything else to stderr.")
    .argument("[prompt...]", "what to say; with - or without a prompt it is read from stdin")
    .option("-m, --model <model>", "the model to use, instead of the configured one")
    .option("-C, --cd <dir>", "the folder to work in, instead of the current one")
    .option("--json", "print events as JSON lines, instead of the answer")
    .option("--output-schema <file>", "file with the JSON Schema that the answer must follow")
    .option("-o, --output-last-message <file>", "write the answer to this file as well")
    .option("--ephemeral", "do not save the thread")
    .option("--approve", "approve every tool call that needs approval; without it they are declined")
    .addOption(
      new Option("--answer <how>", "answer questions with their first option, or leave them to whoever asks")
        .choices(["first", "default"])
        .default("default"),
    )
    // Passed by scripts that were written for the reference program; a folder needs no repository here.
    .addOption(new Option("--skip-git-repo-check").hideHelp())
    .addHelpText("after", NOTES)
    .action(async (words: string[], options, self: Command) => {
      const { exec } = await import("./run-exec.ts");
      const config = self.optsWithGlobals().config;
      process.exitCode = await exec({ ...options, words, config }, (problem) =>
        self.error(`error: ${problem}`),
      );
    });
}

const NOTES = `
Nobody is asked while the turn runs. What is decided instead is printed on stderr,
and with --json as an event "question.decided".

Exit code: 0 when the turn completed, 1 when it failed, 2 when the command line is wrong,
130 after Ctrl-C (once interrupts the turn, twice leaves at once).

Examples:
  bobbin exec "What can you do?"
  git diff | bobbin exec -                           the prompt from stdin
  bobbin exec --json "Say hello" | jq -r .type       events, for programs
  bobbin exec -o answer.txt -C ../other "Sum it up"  the answer in a file as well
`;
