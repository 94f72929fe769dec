import type { BobbinClient } from "@bobbin/client";
import type { InitializeCapabilities } from "@bobbin/protocol";
import { homeDirectory } from "../config/home-folder.ts";
import { connectToRunningHost } from "./running-host-connection.ts";

export interface HostUse {
  readonly client: BobbinClient;
  /** Whether the client is connected to a host that was already running, in another process. */
  readonly isRunning: boolean;
}

/** Threads that a command has loaded are unloaded when the command ends, unless another client uses them. */
export const COMMAND_CAPABILITIES: InitializeCapabilities = {
  experimentalApi: true,
  threadUnloadDelaySecs: 0,
};

/**
 * Calls `use` with a client of the host that runs on this home. If none runs, or if there are overrides (`-c`),
 * starts a host in this process: a running host has its own configuration.
 */
export async function withHost(
  command: string,
  overrides: readonly string[],
  use: (host: HostUse) => Promise<void>,
): Promise<void> {
  const running =
    overrides.length > 0
      ? undefined
      : await connectToRunningHost(homeDirectory(), command, COMMAND_CAPABILITIES);
  if (running === undefined) {
    const { withClient } = await import("./in-process-host.ts");
    return withClient(command, overrides, (client) => use({ client, isRunning: false }));
  }
  try {
    await use({ client: running, isRunning: true });
  } finally {
    await running.close();
  }
}
