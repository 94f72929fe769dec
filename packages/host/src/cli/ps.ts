import type { BobbinClient } from "@bobbin/client";
import type { LoadedThreadDiagnostics, ServerDiagnosticsProcess, Thread } from "@bobbin/protocol";
import { homeDirectory } from "../config/home-folder.ts";
import { COMMAND_CAPABILITIES } from "./host-client.ts";
import type { ThreadOptions } from "./run-on-host.ts";
import { connectToAllHosts } from "./running-host-connection.ts";
import { Output } from "./terminal-output.ts";
import { cutToWidth } from "./text-width.ts";
import { OWN_KINDS } from "./thread-lookup.ts";
import { duration, shortPath, threadTitle } from "./thread-summary-text.ts";

interface HostView {
  readonly hostId: string | null;
  readonly process: ServerDiagnosticsProcess;
  readonly threads: readonly (LoadedThreadDiagnostics & {
    readonly title: string;
    readonly cwd: string | null;
  })[];
}

/** Limit on the threads that are searched for those loaded by unreachable hosts. */
const LOOKED_AT = 100;

/** `bobbin ps`: what the hosts of this home have loaded, and why. Resolves with the exit code. */
export async function ps(options: ThreadOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const clients = await connectToAllHosts(home, "ps", COMMAND_CAPABILITIES);
  try {
    const hosts = await Promise.all(clients.map(viewOf));
    const elsewhere = await heldElsewhere(clients[0], new Set(hosts.map(({ hostId }) => hostId)));
    if (options.json) stdout.line(JSON.stringify({ hosts, elsewhere }, null, 2));
    else stdout.write(forPeople(home, hosts, elsewhere, stdout));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
  await stdout.flushed();
  return 0;
}

async function viewOf(client: BobbinClient): Promise<HostView> {
  const { hostId, process, threads } = await client.request("server/diagnostics", {});
  const named = (threads ?? []).map(async (loaded) => {
    const { threadId } = loaded;
    // The thread may have been unloaded or deleted in between.
    const read = await client.request("thread/read", { threadId }).catch(() => undefined);
    const title = read === undefined ? "(unknown)" : threadTitle(read.thread);
    return { ...loaded, title, cwd: read?.thread.cwd ?? null };
  });
  return { hostId: hostId ?? null, process, threads: await Promise.all(named) };
}

/** Threads that are loaded by hosts that cannot be asked: those that serve one client on stdin and stdout. */
async function heldElsewhere(
  client: BobbinClient | undefined,
  known: ReadonlySet<string | null>,
): Promise<readonly Thread[]> {
  const list = async (from: BobbinClient): Promise<readonly Thread[]> => {
    const { data } = await from.request("thread/list", {
      ...{ limit: LOOKED_AT, sortKey: "recency_at", sourceKinds: [...OWN_KINDS] },
    });
    return data.filter(({ heldBy }) => heldBy != null && !known.has(heldBy));
  };
  if (client !== undefined) return list(client);
  const { withClient } = await import("./in-process-host.ts");
  let found: readonly Thread[] = [];
  await withClient("ps", [], async (own) => {
    found = await list(own);
  });
  return found;
}

function forPeople(
  home: string,
  hosts: readonly HostView[],
  elsewhere: readonly Thread[],
  out: Output,
): string {
  const lines: string[] = [];
  for (const {
    process: { id, residentMemoryBytes },
    threads,
  } of hosts) {
    const memory = residentMemoryBytes === null ? "" : `, memory ${megabytes(residentMemoryBytes)}`;
    const count = threads.length === 1 ? "1 thread" : `${threads.length} threads`;
    lines.push(`Host, process ${id}${memory}: ${count} loaded`);
    for (const thread of threads) {
      lines.push(
        `  ${out.bold(fitted(thread.title, out))}`,
        out.dim(`    ${thread.threadId}${thread.cwd === null ? "" : `  ${shortPath(thread.cwd)}`}`),
        `    ${[...reasons(thread), ...memoryWords(thread)].join("; ")}`,
      );
    }
  }
  if (elsewhere.length > 0) {
    if (lines.length > 0) lines.push("");
    lines.push("Loaded by programs that started a host for themselves, such as an editor:");
    for (const thread of elsewhere)
      lines.push(
        `  ${out.bold(fitted(threadTitle(thread), out))}`,
        out.dim(`    ${thread.id}  ${shortPath(thread.cwd)}`),
      );
  }
  if (lines.length === 0)
    lines.push(
      `No host runs on ${shortPath(home)}, and no thread is loaded.`,
      "Start one:  bobbin app-server --listen ws://127.0.0.1:4545",
    );
  return `${lines.join("\n")}\n`;
}

function fitted(title: string, out: Output): string {
  return out.columns === 0 ? title : cutToWidth(title, out.columns - 3);
}

/** Why a thread is loaded, the most important reason first. */
export function reasons(thread: LoadedThreadDiagnostics): readonly string[] {
  const { turnId, pendingRequests, pendingCalls, descendants, subscribers, unloadsInMs, resident } = thread;
  const found = [
    ...(turnId === null ? [] : ["a turn is running"]),
    ...(thread.workDue ? ["work is due"] : []),
    ...counted(pendingRequests, "question waits for an answer", "questions wait for an answer"),
    ...counted(pendingCalls, "tool call is pending", "tool calls are pending"),
    ...counted(descendants, "helper is at work", "helpers are at work"),
    ...counted(thread.toolServerSubscriptions ?? 0, "tool server subscription", "tool server subscriptions"),
    ...(thread.isOpenHelper ? ["its parent has not closed it"] : []),
    ...counted(subscribers, "client follows it", "clients follow it"),
    ...(unloadsInMs === null ? [] : [`is unloaded in ${duration(unloadsInMs / 1000)}`]),
  ];
  const all = found.length === 0 ? ["nothing keeps it"] : found;
  return resident ? all : [...all, "hibernated"];
}

/** The host's estimate of the thread's memory, as text. Empty for a hibernated thread, which has no estimate. */
function memoryWords({ memoryBytes }: LoadedThreadDiagnostics): readonly string[] {
  return memoryBytes == null ? [] : [`about ${Math.max(1, Math.round(memoryBytes / 1024))} kB in memory`];
}

function counted(count: number, one: string, many: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
