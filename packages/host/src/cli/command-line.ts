import { Command, CommanderError, Option } from "commander";
import { BOBBIN_VERSION, PEER_VERSION } from "../version.ts";
import { addAppServer } from "./app-server-command.ts";
import { addChat } from "./chat-command.ts";
import { addCompletion } from "./completion-command.ts";
import { addConfig } from "./config-command.ts";
import { addDoctor } from "./doctor-command.ts";
import { addExec } from "./exec-command.ts";
import { addFeedback } from "./feedback-command.ts";
import { addHooks } from "./hooks-command.ts";
import { addImport } from "./import-command.ts";
import { addLogin } from "./login-command.ts";
import { addLogs } from "./logs-command.ts";
import { addMcp } from "./mcp-command.ts";
import { addOpen } from "./open-command.ts";
import { optionsAfterCommand } from "./options-after-command.ts";
import { addRules } from "./rules-command.ts";
import { addSandbox } from "./sandbox-command.ts";
import { addPs, addThreads } from "./threads-command.ts";
import { addToken } from "./token-command.ts";
import { addTools } from "./tools-command.ts";

/** Declares all commands. Each imports its implementation when it runs. */
export function program(): Command {
  const bobbin: Command = new Command("bobbin")
    .description("A host for agent threads. Serves clients of the Codex app-server protocol.")
    // Clients read the first number as the version of the Codex CLI, and require a minimum.
    .version(`codex-cli ${PEER_VERSION} (bobbin ${BOBBIN_VERSION})`, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .addOption(configOption())
    .showSuggestionAfterError()
    .showHelpAfterError("See bobbin --help.")
    .configureHelp({
      sortSubcommands: false,
      showGlobalOptions: true,
      // Shows only the options of `bobbin` itself: those of a parent command do not apply to its subcommands.
      visibleGlobalOptions: (command) => (command === bobbin ? [] : [...bobbin.options]),
      minWidthToWrap: 24,
    })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "bobbin: ")) })
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  addAppServer(bobbin);
  addChat(bobbin);
  addExec(bobbin);
  addThreads(bobbin);
  addPs(bobbin);
  addLogs(bobbin);
  addOpen(bobbin);
  addConfig(bobbin);
  addTools(bobbin);
  addLogin(bobbin);
  addToken(bobbin);
  addMcp(bobbin);
  addRules(bobbin);
  addHooks(bobbin);
  addSandbox(bobbin);
  addDoctor(bobbin);
  addFeedback(bobbin);
  addImport(bobbin);
  addCompletion(bobbin);
  for (const command of bobbin.commands) inherit(command);
  return bobbin;
}

/** Creates the option `-c key=value`, which may stand before or after the command. */
export function configOption(): Option {
  return new Option("-c, --config <key=value>", "override a value of config.toml (dotted path, TOML value)")
    .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
    .default(undefined);
}

/** Parses and runs a command line. Resolves with the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const bobbin = program();
    await bobbin.parseAsync([...optionsAfterCommand(bobbin, argv)], { from: "user" });
    return typeof process.exitCode === "number" ? process.exitCode : 0;
  } catch (cause) {
    // Commander has already printed the error. By convention the exit code for wrong usage is 2.
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
The home has the configuration and the threads. It is BOBBIN_HOME, else bobbin/
in CODEX_HOME (config.toml is then that of CODEX_HOME), else ~/.bobbin.

Examples:
  bobbin doctor                                    check this machine
  bobbin chat                                      talk with a model
  bobbin exec "What can you do?"                   run one turn
  bobbin threads list                              list threads
  bobbin app-server                                serve one client on stdin
  bobbin app-server --listen ws://127.0.0.1:4545   serve clients on a WebSocket
`;
