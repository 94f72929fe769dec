import { ConfigError } from "../config/config-error.ts";
import { configPath } from "../config/config-file.ts";
import { homeDirectory } from "../config/home.ts";
import { ListenError } from "../server/listen/door.ts";

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    // As clients start it, who wait for its first reply: a parser of command lines would be loaded for nothing.
    const plain = plainAppServer(argv);
    if (plain !== undefined) {
      const { appServer } = await import("./run-app-server.ts");
      await appServer(plain);
      return 0;
    }
    const { run } = await import("./program.ts");
    return await run(argv);
  } catch (cause) {
    if (cause instanceof ConfigError) {
      const advice = `Correct ${configPath(homeDirectory())} or the -c option.`;
      process.stderr.write(`bobbin: the configuration cannot be used: ${cause.message}\n${advice}\n`);
      return 2;
    }
    if (cause instanceof ListenError) {
      process.stderr.write(`bobbin: ${cause.message}\n`);
      return 2;
    }
    throw cause;
  }
}

/** `app-server` with nothing but listeners; undefined for all that the whole parser has to look at. */
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
