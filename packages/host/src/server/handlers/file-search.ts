import { resolve } from "node:path";
import { fault } from "../../errors.ts";
import type { SearchRoots } from "../../search/file-search.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

const MAX_ROOTS = 100;
const MAX_QUERY = 1000;

/** Handlers of the fuzzy file search. */
export function fileSearchHandlers(context: HandlerContext): MethodHandlers {
  const { fileSearches } = context;
  const searchRoots = async (connection: Connection, roots: readonly string[]): Promise<SearchRoots> => {
    const reach = reachOf(context, connection);
    const named = roots
      .filter((root) => root !== "")
      .map((name) => ({ name, path: resolve(reach.cwd, name) }));
    for (const { path } of named) await reach.checkPath("roots", path);
    return { roots: named, places: await reach.places() };
  };
  return {
    async fuzzyFileSearch({ query, roots, cancellationToken }, { connection, reply }) {
      check(query, roots);
      const files = await fileSearches.search(
        connection,
        { query, token: cancellationToken ?? undefined },
        searchRoots(connection, roots),
      );
      reply({ files: [...files] });
    },
    async "fuzzyFileSearch/sessionStart"({ sessionId, roots }, { connection, reply }) {
      check("", roots);
      if (sessionId === "") throw fault("searchSessionIdEmpty");
      if (roots.length === 0) throw fault("searchNeedsRoots");
      await fileSearches.start(connection, sessionId, searchRoots(connection, roots));
      reply({});
    },
    async "fuzzyFileSearch/sessionUpdate"({ sessionId, query }, { connection, reply }) {
      check(query, []);
      await fileSearches.update(connection, sessionId, query);
      reply({});
    },
    "fuzzyFileSearch/sessionStop"({ sessionId }, { connection, reply }) {
      fileSearches.stop(connection, sessionId);
      reply({});
    },
  };
}

function check(query: string, roots: readonly string[]): void {
  if (query.length > MAX_QUERY) throw fault("invalidParams", "query", `at most ${MAX_QUERY} characters`);
  if (roots.length > MAX_ROOTS) throw fault("invalidParams", "roots", `at most ${MAX_ROOTS} folders`);
  if (roots.some((root) => root.includes("\0"))) throw fault("pathWithNul");
}
