import { type BobbinClient, overLink } from "@bobbin/client";
import { memoryPair } from "@bobbin/rpc";
import { compose } from "../compose.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { hostConfig, loadConfig } from "../config/load-config.ts";
import { logFor } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { escapeControls } from "./terminal-output.ts";

/** Options of a command that talks to a host in its own process. */
interface HostOptions {
  /** Whether the host starts even if the configuration is invalid. It then uses defaults and prints a warning. */
  readonly withBrokenConfig?: boolean;
}

/**
 * Starts a host in this process, calls `use` with a client of this host, and closes both. Commands use the protocol like
 * any other client. `command` is the name of the command, for the client's name.
 */
export async function withClient(
  command: string,
  overrides: readonly string[],
  use: (client: BobbinClient) => Promise<void>,
  { withBrokenConfig = false }: HostOptions = {},
): Promise<void> {
  const home = homeDirectory();
  const platform = nodePlatform();
  const { config, wrong } = withBrokenConfig
    ? await hostConfig(platform.files, home, overrides)
    : { config: await loadConfig(platform.files, home, overrides), wrong: null };
  if (wrong !== null)
    process.stderr.write(`bobbin: the configuration is not used: ${escapeControls(wrong)}\n`);
  const log = logFor(process.env, "warn", (text) => void process.stderr.write(text));
  // Keeps the process alive: the host's timers do not.
  const alive = setInterval(() => {}, 2 ** 30);
  const { host } = compose({
    home,
    cwd: process.cwd(),
    config,
    overrides,
    platform,
    log,
    wrongConfig: wrong,
  });
  const [ours, theirs] = memoryPair();
  theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
  const client = overLink(ours);
  try {
    const info = { name: `bobbin_${command}`, title: `Bobbin ${command}`, version: BOBBIN_VERSION };
    await client.initialize(info, { experimentalApi: true });
    await use(client);
  } finally {
    await client.close();
    await host.close();
    clearInterval(alive);
  }
}
