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
    .addOption(
      new Option("--access <preset>", "sandbox and approvals in one word (see below)").choices([
        "read-only",
        "full-auto",
        "auto-review",
        "everything",
      ]),
    )
    .option("--full-auto", "the same as --access full-auto")
    .option("--approve-for-me", "the same as --access auto-review")
    .option("--dangerously-bypass-approvals-and-sandbox", "the same as --access everything")
    .addOption(
      new Option("-s, --sandbox <mode>", "what commands and patches may touch").choices([
        "read-only",
        "workspace-write",
        "danger-full-access",
      ]),
    )
    .addOption(
      new Option("-a, --ask-for-approval <policy>", "when to ask before something is done").choices([
        "untrusted",
        "on-request",
        "never",
      ]),
    )
    .option("--approve", "approve everything that needs approval, without asking")
    .addOption(
      new Option(
        "--answer <how>",
        "answer questions with their first option, or leave them to whoever asks; without it, they are asked on the terminal",
      ).choices(["first", "default"]),
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
Access presets, none of which asks you; what goes beyond one is refused:
  read-only    read files, write none
  full-auto    write in the working folder, in a sandbox without network
  auto-review  like full-auto, but a model judges what goes beyond it
  everything   no sandbox: for machines that are thrown away

Without a preset, approvals are asked on the terminal if there is one. If there is none,
they are declined at once. What is decided in your place is printed on stderr,
and with --json as an event "question.decided".

Exit code: 0 when the turn completed, 1 when it failed, 2 when the command line is wrong,
130 after Ctrl-C (once interrupts the turn, twice leaves at once).

Examples:
  bobbin exec "What can you do?"
  bobbin exec --full-auto "Make the tests pass"      may write in this folder
  git diff | bobbin exec -                           the prompt from stdin
  bobbin exec --json "Say hello" | jq -r .type       events, for programs
  bobbin exec -o answer.txt -C ../other "Sum it up"  the answer in a file as well
`;
