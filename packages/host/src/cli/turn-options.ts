import { type Command, Option } from "commander";
import { profileOption } from "./profile-option.ts";
import { repeatableOption } from "./repeatable-option.ts";

/** Adds the options about model, folder and access, which `exec` and `chat` share. */
export function addTurnOptions(command: Command): Command {
  return command
    .option("-m, --model <model>", "the model to use, instead of the configured one")
    .addOption(profileOption())
    .option("-C, --cd <dir>", "the folder to work in, instead of the current one")
    .addOption(
      new Option("--access <preset>", "preset for sandbox and approvals (see below)").choices([
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
      new Option("-s, --sandbox <mode>", "the sandbox for commands and patches").choices([
        "read-only",
        "workspace-write",
        "danger-full-access",
      ]),
    )
    .addOption(
      new Option("-a, --ask-for-approval <policy>", "when to ask for approval").choices([
        "untrusted",
        "on-request",
        "on-failure",
        "never",
      ]),
    )
    .addOption(
      repeatableOption(
        "--add-dir <dir>",
        "another folder of the workspace, besides the working folder; repeat for several",
      ),
    );
}

export const ACCESS_NOTES = `
Access presets. With a preset you are never asked; anything that it does not
allow is refused:
  read-only    read files, write none
  full-auto    write in the working folder, in a sandbox without network
  auto-review  like full-auto, but a model approves or refuses the rest
  everything   no sandbox: for disposable machines only. Commands that remove
               files by force are refused; with -s danger-full-access
               --approve they run, too
`;
