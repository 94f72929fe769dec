import { Fault, fault } from "../../errors.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";

/** The parameters of thread/resume that identify a thread. */
interface ThreadReference {
  readonly threadId: string;
  readonly path?: string | null | undefined;
  readonly history?: readonly unknown[] | null | undefined;
}

/** The thread that `thread/resume` is for. If that thread is loaded, a different path or history is refused. */
export async function resumedThread(
  { threadId, path, history }: ThreadReference,
  connection: Connection,
  context: HandlerContext,
): Promise<string> {
  if (!path && history == null) return threadId;
  const id = idOrNone(threadId);
  const running = id === undefined ? undefined : await context.registry.findLoaded(id, accessOf(connection));
  if (running === undefined) return path && history == null ? threadAt(path, connection, context) : threadId;
  if (history != null) throw fault("historyOfRunning", running.id);
  const active = running.journal.place.path;
  if (path && active !== null && context.registry.resolvePath(path).path !== active)
    throw fault("stalePath", running.id, path, active);
  return running.id;
}

/**
 * The thread whose journal has this path. Takes the thread ID from the file name, and compares the path with that
 * thread's real path. Does not open the file.
 */
export async function threadAt(
  path: string,
  connection: Connection,
  { registry }: HandlerContext,
): Promise<string> {
  const { path: wanted, threadId: id } = registry.resolvePath(path);
  if (id === undefined) throw fault("pathNotFound", wanted);
  const reading = registry.read(id, accessOf(connection), async (journal) => journal.place.path);
  const found = await reading.catch((cause: unknown) => {
    if (cause instanceof Fault && MISSING.has(cause.code)) return undefined;
    throw cause;
  });
  if (found !== wanted) throw fault("pathNotFound", wanted);
  return id;
}

const MISSING: ReadonlySet<string> = new Set(["threadNotLoaded", "threadNotFound", "noRollout"]);

/** The thread ID; undefined if it is invalid, which is allowed together with a path or a history. */
function idOrNone(text: string): string | undefined {
  try {
    return parseThreadId(text);
  } catch {
    return undefined;
  }
}
