import { RpcError } from "@bobbin/rpc";
import { homeDirectory } from "../config/home-folder.ts";
import { messageOf } from "../errors.ts";
import { CommandFailure } from "./command-failure.ts";
import { COMMAND_CAPABILITIES, type HostUse, withHost } from "./host-client.ts";
import { escapeControls, Output } from "./terminal-output.ts";
import { connectToHolder } from "./thread-holder-connection.ts";

/** Options that every command about threads has. */
export interface ThreadOptions {
  readonly json?: boolean;
  readonly config?: readonly string[];
}

export interface ThreadsUse extends HostUse {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Runs a command with a client of this home's host. Reports failures on stderr. Resolves with the exit code. */
export async function runOnHost(
  command: string,
  { config = [] }: ThreadOptions,
  use: (host: ThreadsUse) => Promise<number>,
): Promise<number> {
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  let code = 1;
  try {
    await withHost(command, config, async (host) => {
      code = await use({ ...host, stdout, stderr });
    });
  } catch (cause) {
    if (!(cause instanceof RpcError || cause instanceof CommandFailure)) throw cause;
    const advice = cause instanceof RpcError ? adviceFor(cause) : undefined;
    stderr.line(stderr.red(`bobbin: ${escapeControls(messageOf(cause))}`));
    if (advice !== undefined) stderr.line(advice);
    code = 1;
  }
  await stdout.flushed();
  await stderr.flushed();
  return code;
}

/** Calls `use` with a client of the host that has the thread loaded, or with `host` if that one cannot be reached. */
export async function onHolder<T>(
  host: ThreadsUse,
  threadId: string,
  use: (host: ThreadsUse) => Promise<T>,
): Promise<T> {
  const options = { home: homeDirectory(), command: "threads", capabilities: COMMAND_CAPABILITIES };
  const holder = host.isRunning ? await connectToHolder(host.client, threadId, options) : undefined;
  if (holder === undefined) return use(host);
  try {
    return await use({ ...host, client: holder });
  } finally {
    await holder.close();
  }
}

function adviceFor({ data }: RpcError): string | undefined {
  const { code } = (data ?? {}) as { code?: unknown };
  if (code === "heldElsewhere")
    return "Another program of this home has it loaded: close it there first. `bobbin ps` shows what is loaded.";
  if (code === "threadNotFound" || code === "threadNotLoaded")
    return "There may be no such thread: `bobbin threads list` shows them, with --archived the archived ones.";
  return undefined;
}
