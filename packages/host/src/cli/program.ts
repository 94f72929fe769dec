import { Command, CommanderError, Option } from "commander";
import { BOBBIN_VERSION, PEER_VERSION } from "../version.ts";
import { addAppServer } from "./app-server.ts";
import { addCompletion } from "./completion.ts";
import { addDoctor } from "./doctor.ts";
import { addExec } from "./exec.ts";
import { addRules } from "./rules.ts";
import { addSandbox } from "./sandbox.ts";
import { addTools } from "./tools.ts";

/** The whole command line. Commands load what they need when they run. */
export function program(): Command {
  const bobbin: Command = new Command("bobbin")
    .description("A host for agent threads. Speaks the Codex app-server protocol.")
    // Clients read the first version as that of the protocol's reference program, and ask for a minimum.
    .version(`codex-cli ${PEER_VERSION} (bobbin ${BOBBIN_VERSION})`, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .addOption(configOption())
    .showSuggestionAfterError()
    .showHelpAfterError("See bobbin --help.")
    .configureHelp({
      sortSubcommands: false,
      showGlobalOptions: true,
      // Those of the program; options of a command in between do not count for the commands below it.
      visibleGlobalOptions: (command) => (command === bobbin ? [] : [...bobbin.options]),
      minWidthToWrap: 24,
    })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "bobbin: ")) })
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  addAppServer(bobbin);
  addExec(bobbin);
  addTools(bobbin);
  addRules(bobbin);
  addSandbox(bobbin);
  addDoctor(bobbin);
  addCompletion(bobbin);
  for (const command of bobbin.commands) inherit(command);
  return bobbin;
}

/** `-c key=value`, before or after the command. */
export function configOption(): Option {
  return new Option("-c, --config <key=value>", "override a value of config.toml (dotted path, TOML value)")
    .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
    .default(undefined);
}

/** Runs what a command line asks for; resolves with the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(argv as string[], { from: "user" });
    return typeof process.exitCode === "number" ? process.exitCode : 0;
  } catch (cause) {
    // Commander has printed its own by now; 2 is what shells expect of wrong usage.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    throw cause;
  }
}

function inherit(command: Command, parent = command.parent!.name()): void {
  command.copyInheritedSettings(command.parent!);
  const name = `${parent} ${command.name()}`;
  command.showHelpAfterError(`See ${name} --help.`);
  for (const below of command.commands) inherit(below, name);
}

const EXAMPLES = `
Examples:
  bobbin app-server                                  speak the protocol on stdin and stdout
  bobbin app-server --listen ws://127.0.0.1:4545     the same on a WebSocket
  bobbin exec "What can you do?"                     one turn in the terminal
  bobbin doctor                                      check this machine
`;
