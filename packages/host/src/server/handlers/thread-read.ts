import type { Params, Thread, ThreadReadState } from "@bobbin/protocol";
import { callCost } from "../../account/usage/usage-report.ts";
import { readStateOf } from "../../core/read-state/read-state-view.ts";
import { fault } from "../../errors.ts";
import { journalPage } from "../../history/journal-entry-pages.ts";
import { allTurns } from "../../history/stored-turns.ts";
import { itemsOf, itemsPage, turnsPage } from "../../history/turn-pages.ts";
import { type CostOf, turnTimeline } from "../../history/turn-timeline.ts";
import type { ThreadQuery, ThreadRow } from "../../store/thread-index.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import { maySee } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, inSection, seenOwner, viewer } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { relatedThreadId } from "../params/related-thread-id.ts";
import { occurrenceAt, occurrenceCursor } from "../params/search-occurrence-cursor.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
const MAX_ITEM_IDS = 100;
const DEFAULT_OCCURRENCES = 50;
const MAX_OCCURRENCES = 250;
const MAX_TERM = 10_000;

const NO_THREADS = { data: [], nextCursor: null, backwardsCursor: null, readStates: {} };

/** Handlers that read threads without loading them, and without notifications. */
export function threadReadHandlers(context: HandlerContext): MethodHandlers {
  const { registry, lists } = context;

  /**
   * Converts index rows to threads. Adds the values that do not come from journals: section, status, and the host
   * that has the thread loaded.
   */
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
        ...ownerFor(connection, row.owner),
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
        const thread = {
          ...view(state, journal.place, turns),
          ...heldElsewhere(heldBy),
          ...ownerFor(connection, state.facts.owner),
        };
        reply({ thread, readState: readStateOf(state) });
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

    async "thread/items/read"({ threadId, turnId, itemIds }, { connection, reply }) {
      if (itemIds.length === 0 || itemIds.length > MAX_ITEM_IDS) throw fault("tooManyItemIds");
      await registry.read(threadId, accessOf(connection), async (journal) => {
        reply({ data: await itemsOf(journal, turnId, new Set(itemIds)) });
      });
    },

    async "thread/journal/read"({ threadId, ...query }, { connection, reply }) {
      await registry.read(threadId, accessOf(connection), async (journal, state) => {
        const toolServers = context.rap.notifiedServers(state);
        reply(await journalPage({ threadId: state.facts.id, journal, toolServers }, query));
      });
    },

    async "turn/timeline/read"({ threadId, turnId }, { connection, reply }) {
      const { prices } = context.config.usage;
      const costOf: CostOf = (model, usage) => callCost(model, usage, prices);
      await registry.read(threadId, accessOf(connection), async (journal, { settings: { model } }) => {
        reply(await turnTimeline(journal, turnId, { costOf, model }));
      });
    },

    async "thread/searchOccurrences"(params, { connection, reply }) {
      const { searchTerm, cursor, limit } = params;
      if (searchTerm.trim() === "") throw fault("searchTermEmpty", "thread/searchOccurrences");
      if (searchTerm.length > MAX_TERM) throw fault("searchTermTooLong", MAX_TERM);
      const { threadId, runningTurn } = await registry.read(
        params.threadId,
        accessOf(connection),
        async (_journal, { facts, turn }) => {
          if (facts.ephemeral) throw fault("ephemeralSearch");
          return { threadId: facts.id, runningTurn: turn?.id ?? null };
        },
      );
      const from = occurrenceAt(threadId, searchTerm, cursor);
      const size = Math.min(MAX_OCCURRENCES, Math.max(1, limit ?? DEFAULT_OCCURRENCES));
      const { found, next } = await lists.occurrences({
        threadId,
        searchTerm,
        from,
        limit: size,
        runningTurn,
      });
      reply({
        data: found.map(({ turnId, itemId, snippet, start, end, turnCursor }) => ({
          turnId,
          itemId,
          snippet,
          snippetMatchRange: { start, end },
          turnCursor,
        })),
        nextCursor: next && occurrenceCursor(threadId, searchTerm, next),
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
      if (parent != null) relatedThreadId("parent", parent);
      if (ancestor != null) relatedThreadId("ancestor", ancestor);
      if (params.sortKey === "section_position" && params.sectionId == null) throw fault("sortNeedsSection");
      // No thread is attached to another one, so there are none to include.
      if (params.includeAttachedThreads && !params.searchTerm) throw fault("attachedNeedsSearch");
      const own = listQuery(params, connection);
      const owner = params.owner ?? own.owner;
      // Threads of others do not exist for a subject.
      if (own.owner !== undefined && owner !== own.owner) return reply(NO_THREADS);
      const query = { ...own, owner, knownSections: await sectionIds(connection) };
      const page = await lists.list(query);
      const { rows, nextCursor, backwardsCursor } = page;
      const data = await shown(connection, rows);
      reply({ data, nextCursor, backwardsCursor, readStates: readStates(rows) });
    },

    async "thread/search"(params, { connection, reply }) {
      if (params.searchTerm.trim() === "") throw fault("searchTermEmpty", "thread/search");
      const query = { ...listQuery(params, connection), searchTerm: params.searchTerm };
      const page = await lists.search(query);
      const rows = page.hits.map(({ row }) => row);
      const threads = await shown(connection, rows);
      const data = page.hits.map(({ snippet }, at) => ({ snippet, thread: threads[at]! }));
      reply({ data, nextCursor: page.nextCursor, backwardsCursor: page.backwardsCursor });
    },
  };
}

/** The read states by thread ID. Threads without a read state are left out. */
function readStates(rows: readonly ThreadRow[]): Record<string, ThreadReadState> {
  const states: Record<string, ThreadReadState> = {};
  for (const { id, readState } of rows) if (readState !== null) states[id] = readState;
  return states;
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

/** The other host that has the thread loaded, if there is one. */
function heldElsewhere(heldBy: string | undefined): Pick<Thread, "heldBy"> {
  return heldBy === undefined ? {} : { heldBy };
}

/** The owner of a thread, for clients that see threads of several owners. */
function ownerFor(connection: Connection, owner: string): Pick<Thread, "owner"> {
  const isShown = seenOwner(connection) === undefined && connection.client?.experimental === true;
  return isShown ? { owner } : {};
}

/** Parses the cursor of the list of loaded threads: the last thread ID of the previous page. */
function afterId(cursor: string): string {
  try {
    return parseThreadId(cursor);
  } catch {
    throw fault("invalidCursor", cursor.slice(0, 100));
  }
}
