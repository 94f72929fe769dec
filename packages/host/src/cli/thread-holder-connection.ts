import type { BobbinClient } from "@bobbin/client";
import type { InitializeCapabilities } from "@bobbin/protocol";
import { controlSockets } from "./control-sockets.ts";
import { connectToSocket } from "./running-host-connection.ts";

interface HolderOptions {
  readonly home: string;
  readonly command: string;
  readonly capabilities: InitializeCapabilities;
  /** Called before `initialize`. */
  prepare?(client: BobbinClient): void;
}

/**
 * Connects to the host that has a thread loaded (its holder). Undefined if `client` is already connected to the holder,
 * if no host has the thread loaded, or if the holder has no socket because it serves one program on stdin and stdout.
 */
export async function connectToHolder(
  client: BobbinClient,
  threadId: string,
  options: HolderOptions,
): Promise<BobbinClient | undefined> {
  return (await findHolder(client, threadId, options))?.client;
}

/** Does the same as `connectToHolder`, and also resolves with the path of the holder's socket. */
export async function findHolder(
  client: BobbinClient,
  threadId: string,
  { home, command, capabilities, prepare = () => {} }: HolderOptions,
): Promise<{ readonly client: BobbinClient; readonly path: string } | undefined> {
  // If the thread cannot be read, the caller's next request reports that.
  const read = await client.request("thread/read", { threadId }).catch(() => undefined);
  const heldBy = read?.thread.heldBy;
  if (heldBy == null) return undefined;
  for (const path of controlSockets(home)) {
    const other = await connectToSocket(path, command, capabilities, prepare);
    const described = await other?.request("server/diagnostics", {}).catch(() => undefined);
    if (other !== undefined && described?.hostId === heldBy) return { client: other, path };
    await other?.close();
  }
  return undefined;
}
