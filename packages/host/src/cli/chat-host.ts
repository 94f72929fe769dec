import {
  type Answers,
  type Bobbin,
  type BobbinClient,
  connect,
  type Notification,
  type OpenConnection,
} from "@bobbin/client";
import type { InitializeCapabilities } from "@bobbin/protocol";
import type { HostOptions } from "../compose.ts";
import { controlSockets } from "./control-sockets.ts";
import { startHost } from "./open-host.ts";
import { ANSWER_MS, clientInfo, connectToRunningHost, openSocket } from "./running-host-connection.ts";
import { findHolder } from "./thread-holder-connection.ts";

/** The host that serves a chat. */
export interface ChatHost {
  /** A client that reconnects when its connection is lost. */
  readonly bobbin: Bobbin;
  /** Whether the host was already running, in another process. */
  readonly isRunning: boolean;
  /** Closes the connection, and a host in this process. */
  close(): Promise<void>;
}

export interface ChatHostOptions {
  /** Whether to use a host that already runs on the home. */
  readonly mayRunElsewhere: boolean;
  readonly answers: Answers;
  /** Called with every notification of every connection, including those that arrive before `connect` resolves. */
  readonly onNotification: (notification: Notification) => void;
  /**
   * Returns a function that finds the chat's thread; undefined while the chat has no thread. If several hosts run on the
   * home, the chat connects to the one that has this thread loaded.
   */
  readonly thread: () => ((client: BobbinClient) => Promise<string>) | undefined;
}

const COMMAND = "chat";
const CAPABILITIES: InitializeCapabilities = { experimentalApi: true };
/** Short delays, so that a chat finds a restarted host quickly. */
const RETRY = { firstMs: 100, maxMs: 1_000 };
/** A host that does not respond any more is noticed after at most three times this time. */
const HEARTBEAT_MS = 10_000;

/** Connects to the host that runs on the home, or else starts one in this process. */
export async function openChatHost(hostOptions: HostOptions, options: ChatHostOptions): Promise<ChatHost> {
  const { answers, onNotification } = options;
  const lasting = (open: OpenConnection, signal?: AbortSignal) =>
    connect(
      async (closing) => {
        const client = await open(closing);
        client.onNotification(onNotification);
        return client;
      },
      {
        ...clientInfo(COMMAND),
        ...{ capabilities: CAPABILITIES, answers, retry: RETRY },
        // A host in this process needs no heartbeat: if it hangs, so does the chat.
        ...(signal && { signal, heartbeatMs: HEARTBEAT_MS }),
      },
    );
  if (options.mayRunElsewhere) {
    const bobbin = await connectToRunning(hostOptions.home, options.thread, lasting);
    if (bobbin !== undefined) return { bobbin, isRunning: true, close: () => bobbin.close() };
  }
  const host = await startHost(hostOptions);
  try {
    const bobbin = await lasting(async () => host.accept());
    const close = async () => {
      await bobbin.close();
      await host.close();
    };
    return { bobbin, isRunning: false, close };
  } catch (cause) {
    await host.close();
    throw cause;
  }
}

/** Resolves with undefined if no host runs on the home, or if none answers in time. */
async function connectToRunning(
  home: string,
  thread: ChatHostOptions["thread"],
  lasting: (open: OpenConnection, signal: AbortSignal) => Promise<Bobbin>,
): Promise<Bobbin | undefined> {
  const unanswered = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isFirst = true;
  try {
    return await lasting(async (closing) => {
      const client = await openRunning(home, closing, thread());
      if (isFirst) timer = setTimeout(() => unanswered.abort(), ANSWER_MS);
      isFirst = false;
      return client;
    }, unanswered.signal);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Opens a connection to a host of the home. Lists the sockets each time, because a restarted host has another one. */
async function openRunning(
  home: string,
  closing: AbortSignal,
  find: ReturnType<ChatHostOptions["thread"]>,
): Promise<BobbinClient> {
  const paths = controlSockets(home);
  const holder = find && paths.length > 1 ? await holderOf(home, find) : undefined;
  for (const path of holder === undefined ? paths : [holder, ...paths]) {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(ANSWER_MS)]);
    const client = await openSocket(path, signal).catch(() => undefined);
    closing.throwIfAborted();
    if (client !== undefined) return client;
  }
  throw new Error(`no host runs on ${home}`);
}

/** The socket of the host that has the thread loaded; undefined if that is the first host that answers, or none has. */
async function holderOf(
  home: string,
  find: (client: BobbinClient) => Promise<string>,
): Promise<string | undefined> {
  const first = await connectToRunningHost(home, COMMAND, CAPABILITIES);
  if (first === undefined) return undefined;
  try {
    // If the thread is not found, the later `thread/resume` reports that.
    const threadId = await find(first).catch(() => undefined);
    if (threadId === undefined) return undefined;
    const options = { home, command: COMMAND, capabilities: CAPABILITIES };
    const holder = await findHolder(first, threadId, options);
    await holder?.client.close();
    return holder?.path;
  } finally {
    await first.close();
  }
}
