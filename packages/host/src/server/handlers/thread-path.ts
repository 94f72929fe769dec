import { resolve } from "node:path";
import { Fault, fault } from "../../errors.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "./context.ts";

interface Named {
  readonly threadId: string;
  readonly path?: string | null | undefined;
  readonly history?: readonly unknown[] | null | undefined;
}

/** Which thread a resume is of. One that is loaded goes on as it is: another file or history is refused. */
export async function resumedThread(
  { threadId, path, history }: Named,
  connection: Connection,
  context: HandlerContext,
): Promise<string> {
  if (!path && history == null) return threadId;
  const id = idOrNone(threadId);
  const running = id === undefined ? undefined : await context.registry.findLoaded(id, accessOf(connection));
  if (running === undefined) return path && history == null ? threadAt(path, connection, context) : threadId;
  if (history != null) throw fault("historyOfRunning", running.id);
  const active = running.journal.place.path;
  if (path && active !== null && resolve(context.home, path) !== active)
    throw fault("stalePath", running.id, path, active);
  return running.id;
}

/** The thread that is kept in a file. Only paths that clients were told are known: no file is opened for them. */
export async function threadAt(
  path: string,
  connection: Connection,
  { home, registry }: HandlerContext,
): Promise<string> {
  const wanted = resolve(home, path);
  const id = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(wanted)?.[1];
  if (id === undefined) throw fault("pathNotFound", wanted);
  const kept = registry.read(id, accessOf(connection), async (journal) => journal.place.path);
  const found = await kept.catch((cause: unknown) => {
    if (cause instanceof Fault && MISSING.has(cause.code)) return undefined;
    throw cause;
  });
  if (found !== wanted) throw fault("pathNotFound", wanted);
  return id;
}

const MISSING: ReadonlySet<string> = new Set(["threadNotLoaded", "threadNotFound", "noRollout"]);

/** Beside a path, or a history, it need not be one. */
function idOrNone(text: string): string | undefined {
  try {
    return parseThreadId(text);
  } catch {
    return undefined;
  }
}
