import { type BobbinClient, overLink } from "@bobbin/client";
import type { InitializeCapabilities } from "@bobbin/protocol";
import { memoryPair } from "@bobbin/rpc";
import type { HostOptions } from "../compose.ts";
import { clientInfo, connectToRunningHost } from "./running-host-connection.ts";
import { connectToHolder } from "./thread-holder-connection.ts";

export interface OpenHost {
  readonly client: BobbinClient;
  /** Whether the host was already running, in another process. */
  readonly isRunning: boolean;
  /** Closes the connection, and a host in this process. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The name of the command, for the client's name. */
  readonly command: string;
  readonly capabilities: InitializeCapabilities;
  /** Whether to use a host that already runs on the home. */
  readonly mayRunElsewhere: boolean;
  /** Called before `initialize`, so that no notification is missed. */
  prepare(client: BobbinClient): void;
  /** Finds the thread that is resumed. If several hosts run on the home, the one that has it loaded is used. */
  readonly findThread?: ((client: BobbinClient) => Promise<string>) | undefined;
}

/** Connects to the host that runs on the home, or else starts one in this process. */
export async function openHost(hostOptions: HostOptions, options: OpenOptions): Promise<OpenHost> {
  const { command, capabilities, prepare } = options;
  const running = options.mayRunElsewhere
    ? await connectToRunningHost(hostOptions.home, command, capabilities, prepare)
    : undefined;
  if (running !== undefined) {
    const client = await withThread(running, hostOptions.home, options);
    return { client, isRunning: true, close: () => client.close() };
  }
  const host = await startHost(hostOptions);
  const client = host.accept();
  const close = async () => {
    await client.close();
    await host.close();
  };
  try {
    prepare(client);
    await client.initialize(clientInfo(command), capabilities);
    return { client, isRunning: false, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** A host in this process. */
export interface OwnHost {
  /** Opens a connection to this host, without sending `initialize`. */
  accept(): BobbinClient;
  close(): Promise<void>;
}

/** Starts a host in this process. */
export async function startHost(hostOptions: HostOptions): Promise<OwnHost> {
  const { compose } = await import("../compose.ts");
  const { host } = compose(hostOptions);
  return {
    accept() {
      const [ours, theirs] = memoryPair();
      theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
      return overLink(ours);
    },
    close: async () => void (await host.close()),
  };
}

/** Returns `client`, or a client of the other host that has the resumed thread loaded. */
async function withThread(
  client: BobbinClient,
  home: string,
  { findThread, command, capabilities, prepare }: OpenOptions,
): Promise<BobbinClient> {
  // If the thread is not found, the later `thread/resume` reports that.
  const threadId = await findThread?.(client).catch(() => undefined);
  if (threadId === undefined) return client;
  const holder = await connectToHolder(client, threadId, { home, command, capabilities, prepare });
  if (holder === undefined) return client;
  await client.close();
  return holder;
}
