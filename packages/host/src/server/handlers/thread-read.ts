import type { Params, Thread } from "@bobbin/protocol";
import { fault } from "../../errors.ts";
import { BadCursor } from "../../journal/index/cursor.ts";
import type { ThreadQuery, ThreadRow } from "../../journal/index/thread-index.ts";
import { allTurns } from "../../thread/history.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import { maySee } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, inSection, seenOwner, viewer } from "./context.ts";
import { relatedId } from "./related-id.ts";
import { itemsPage, turnsPage } from "./turn-pages.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** Looking at threads: nothing is loaded, and nobody is told. */
export function threadReadHandlers(context: HandlerContext): Handlers {
  const { registry, index } = context;

  /** Rows as threads: what changes without their journals is filled in. */
  const shown = async (connection: Connection, rows: readonly ThreadRow[]) => {
    const sections = await context.sections.all(seenOwner(connection));
    const holders = await registry.holders(rows.map(({ id }) => id));
    return rows.map((row): Thread => {
      const status = registry.statusOf(row.id);
      const environments = status === undefined ? null : row.thread.environments;
      return {
        ...inSection(row.thread, sections, row.sectionId),
        environments,
        status: status ?? row.thread.status,
        ...heldElsewhere(status === undefined ? holders.get(row.id) : undefined),
      };
    });
  };

  const sectionIds = async (connection: Connection) => {
    return (await context.sections.all(seenOwner(connection))).map(({ id }) => id);
  };

  return {
    async "thread/read"({ threadId, includeTurns }, { connection, reply }) {
      await registry.read(threadId, accessOf(connection), async (journal, state, heldBy) => {
        if (includeTurns && state.facts.ephemeral) throw fault("ephemeralTurns");
        const turns = includeTurns ? await allTurns(journal) : [];
        const view = await viewer(context, connection);
        const thread = { ...view(state, journal.place, turns), ...heldElsewhere(heldBy) };
        reply({ thread, readState: null });
      });
    },

    async "thread/turns/list"({ threadId, ...query }, { connection, reply }) {
      await registry.read(threadId, accessOf(connection), async (journal, state) => {
        reply(await turnsPage({ journal, state }, query));
      });
    },

    async "thread/items/list"({ threadId, ...query }, { connection, reply }) {
      await registry.read(threadId, accessOf(connection), async (journal, state) => {
        reply(await itemsPage({ journal, state }, query));
      });
    },

    "thread/loaded/list"({ cursor, limit }, { connection, reply }) {
      const after = cursor == null ? "" : afterId(cursor);
      const ids: string[] = [];
      for (const actor of registry.loaded()) {
        if (actor.id > after && maySee(connection.meta.principal, actor.owner)) ids.push(actor.id);
      }
      ids.sort();
      const data = ids.slice(0, Math.max(1, limit ?? ids.length));
      reply({ data, nextCursor: data.length < ids.length ? data.at(-1)! : null });
    },

    async "thread/list"(params, { connection, reply }) {
      const { parentThreadId: parent, ancestorThreadId: ancestor } = params;
      if (parent != null) relatedId("parent", parent);
      if (ancestor != null) relatedId("ancestor", ancestor);
      if (params.sortKey === "section_position" && params.sectionId == null) throw fault("sortNeedsSection");
      const query = { ...listQuery(params, connection), knownSections: await sectionIds(connection) };
      const page = await index.list(query).catch(badCursor);
      const { rows, nextCursor, backwardsCursor } = page;
      reply({ data: await shown(connection, rows), nextCursor, backwardsCursor, readStates: {} });
    },

    async "thread/search"(params, { connection, reply }) {
      if (params.searchTerm.trim() === "") throw fault("searchTermEmpty");
      const page = await index
        .search({ ...listQuery(params, connection), searchTerm: params.searchTerm })
        .catch(badCursor);
      const rows = page.hits.map(({ row }) => row);
      const threads = await shown(connection, rows);
      const data = page.hits.map(({ snippet }, at) => ({ snippet, thread: threads[at]! }));
      reply({ data, nextCursor: page.nextCursor, backwardsCursor: page.backwardsCursor });
    },
  };
}

function listQuery(params: Params<"thread/list">, connection: Connection): ThreadQuery {
  const { cwd, limit } = params;
  if (params.parentThreadId != null && params.ancestorThreadId != null) throw fault("twoRelations");
  return {
    owner: seenOwner(connection),
    archived: params.archived ?? false,
    modelProviders: params.modelProviders ?? undefined,
    sourceKinds: params.sourceKinds ?? undefined,
    cwds: cwd == null ? undefined : typeof cwd === "string" ? [cwd] : cwd,
    searchTerm: params.searchTerm ?? undefined,
    sectionId: params.sectionId ?? undefined,
    originators: params.originators ?? undefined,
    excludedThreadIds: params.excludedThreadIds ?? undefined,
    parentThreadId: params.parentThreadId ?? undefined,
    ancestorThreadId: params.ancestorThreadId ?? undefined,
    sortKey: params.sortKey ?? "created_at",
    sortDirection: params.sortDirection ?? "desc",
    cursor: params.cursor ?? undefined,
    limit: Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT)),
  };
}

/** Names the other host that has a thread loaded; nothing if none does. */
function heldElsewhere(heldBy: string | undefined): Pick<Thread, "heldBy"> {
  return heldBy === undefined ? {} : { heldBy };
}

/** The list of loaded threads goes on behind an id. */
function afterId(cursor: string): string {
  try {
    return parseThreadId(cursor);
  } catch {
    throw fault("invalidCursor", cursor.slice(0, 100));
  }
}

function badCursor(cause: unknown): never {
  if (cause instanceof BadCursor) throw fault("invalidCursor", cause.cursor);
  throw cause;
}
