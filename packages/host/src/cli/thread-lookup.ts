import type { BobbinClient } from "@bobbin/client";
import { CommandFailure } from "./command-failure.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Limit on the threads that are searched for the beginning of an ID, or for a name. */
const MAX_LOOKED_AT = 2_000;
const PAGE = 100;

/** All kinds of threads except helpers. */
export const OWN_KINDS = ["cli", "vscode", "exec", "appServer", "unknown"] as const;

/** The part of a client that sends requests, so that a `Bobbin` can be used, too. */
export type Requests = Pick<BobbinClient, "request">;

/** Finds the thread that a user means: by its id, by the beginning of its id, or by its whole name. */
export async function findThread(client: Requests, given: string): Promise<string> {
  if (UUID.test(given)) return given.toLowerCase();
  if (given.trim() === "") throw new CommandFailure("the id of the thread is empty");
  const found = new Set<string>();
  for (const archived of [false, true]) {
    let cursor: string | null = null;
    let looked = 0;
    do {
      const page: Awaited<ReturnType<typeof listPage>> = await listPage(client, archived, cursor);
      for (const { id, name } of page.data)
        if (name === given || id.startsWith(given.toLowerCase())) found.add(id);
      looked += page.data.length;
      cursor = page.nextCursor;
    } while (cursor !== null && looked < MAX_LOOKED_AT);
  }
  const [first, second] = found;
  if (first === undefined)
    throw new CommandFailure(
      `no thread has the id or name ${JSON.stringify(given)}; \`bobbin threads list\` shows them`,
    );
  if (second !== undefined)
    throw new CommandFailure(
      `${found.size} threads match ${JSON.stringify(given)}: ${[...found].slice(0, 3).join(", ")}${found.size > 3 ? ", …" : ""}; give more of the id`,
    );
  return first;
}

/** The thread that was used last; if a folder is given, among the threads in that folder. */
export async function lastThread(client: Requests, cwd: string | undefined): Promise<string> {
  const { data } = await client.request("thread/list", {
    ...{ limit: 1, sortKey: "recency_at", sourceKinds: [...OWN_KINDS] },
    ...(cwd !== undefined && { cwd }),
  });
  const [last] = data;
  if (last !== undefined) return last.id;
  throw new CommandFailure(
    cwd === undefined
      ? "there is no thread to go on with"
      : `there is no thread of ${cwd} to go on with; \`bobbin threads list\` shows all of them`,
  );
}

function listPage(client: Requests, archived: boolean, cursor: string | null) {
  return client.request("thread/list", {
    archived,
    limit: PAGE,
    sortKey: "recency_at",
    sourceKinds: [...OWN_KINDS],
    ...(cursor !== null && { cursor }),
  });
}
