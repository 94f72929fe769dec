import { ConfigError } from "../config/bad-config-error.ts";
import { configPath } from "../config/config-file.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { Fault, messageOf } from "../errors.ts";
import { ListenError } from "../server/listen/listener.ts";
import { storageFault } from "../store/storage-fault.ts";

/** Runs a command line. Prints errors that a user can fix without a stack trace. Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    // A fast path for the usual way in which clients start the program: the command line parser is not loaded.
    const plain = plainAppServer(argv);
    if (plain !== undefined) {
      const { appServer } = await import("./app-server.ts");
      await appServer(plain);
      return 0;
    }
    const { run } = await import("./command-line.ts");
    return await run(argv);
  } catch (cause) {
    // The message of a fault is written for users, so no stack trace is printed.
    if (cause instanceof Fault) {
      process.stderr.write(`bobbin: ${cause.message}\n`);
      return 1;
    }
    if (cause instanceof ConfigError) {
      const advice = `Correct ${configPath(homeDirectory())} or the -c option.`;
      process.stderr.write(`bobbin: the configuration cannot be used: ${cause.message}\n${advice}\n`);
      return 2;
    }
    if (cause instanceof ListenError) {
      process.stderr.write(`bobbin: ${cause.message}\n`);
      return 2;
    }
    // The message of an I/O error names the file, for example one that another user owns.
    if (storageFault(cause) !== undefined) {
      process.stderr.write(`bobbin: ${messageOf(cause)}\n`);
      return 1;
    }
    throw cause;
  }
}

/** Parses `app-server` with only `--listen` and `--stdio`. Returns undefined for any other command line. */
export function plainAppServer(
  argv: readonly string[],
): { readonly listen: readonly string[]; readonly stdio: boolean } | undefined {
  const [command, ...rest] = argv;
  if (command !== "app-server") return undefined;
  const listen: string[] = [];
  let stdio = false;
  while (rest.length > 0) {
    const flag = rest.shift();
    const value = flag === "--listen" ? rest.shift() : undefined;
    if (value !== undefined && !value.startsWith("-")) listen.push(value);
    else if (flag === "--stdio") stdio = true;
    else return undefined;
  }
  return { listen, stdio };
}
