import type { NotificationParams, Params, Result } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import type { ThreadFacts } from "../../core/life/records.ts";
import { modeView, threadView } from "../../core/life/views.ts";
import { fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import type { Actor } from "../../thread/actor.ts";
import { allTurns } from "../../thread/history.ts";
import type { LoadRequest } from "../../thread/registry.ts";
import { type Cursor, parseCursor } from "../../thread/subscription.ts";
import { ownerOf } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { refusePermissionProfile } from "./asked-places.ts";
import { accessOf, type HandlerContext, viewer } from "./context.ts";
import { checkHistoryItems } from "./history-items.ts";
import { loadedView, newFacts, tellUsage, tellViews } from "./new-thread.ts";
import {
  askedLoadSettings,
  askedSettings,
  newSettings,
  refuseTwoSandboxes,
  refuseWrongConfig,
  settingsScope,
} from "./settings.ts";
import { surroundings } from "./surroundings.ts";
import { tellGoal } from "./thread-goal.ts";
import { resumedThread } from "./thread-path.ts";
import { startCursors, turnsPage } from "./turn-pages.ts";

/** How a thread comes to be loaded: started, resumed. Each makes the connection follow it. */
export function threadLoadHandlers(context: HandlerContext): Handlers {
  const { registry, keyedStarts, platform, idle } = context;
  const projectDocs = async (cwd: string, owner: string) => (await surroundings(cwd, owner, context)).docs;
  /** A new thread on items that a client has kept by itself: told as one that was loaded. */
  const startedFrom = async (params: Params<"thread/resume">, connection: Connection): Promise<Actor> => {
    const items = params.history ?? [];
    if (items.length === 0) throw fault("historyEmpty");
    checkHistoryItems(items);
    const scope = settingsScope(context, connection);
    const settings = await newSettings(params, scope);
    const load = askedLoadSettings(params, scope);
    const facts = newFacts(context, connection, { ephemeral: false, serviceName: null, threadSource: null });
    const at = platform.clock.now();
    const history = (async function* () {
      yield [{ type: "itemsInjected", at, items } as const];
    })();
    const actor = await registry.start({
      facts,
      settings,
      load,
      ...(await surroundings(settings.cwd, facts.owner, context)),
      history,
    });
    registry.announce(actor, "thread/status/changed", { threadId: actor.id, status: actor.status });
    return actor;
  };
  const asItWas: LoadRequest = {
    changes: async (now, owner) => context.reachLookup.of(owner).narrowed(now),
    load: {},
    docs: projectDocs,
  };
  return {
    async "thread/start"(params, { connection, reply }) {
      refusePermissionProfile("thread/start", params);
      refuseWrongConfig(context, connection);
      const scope = settingsScope(context, connection);
      const settings = await newSettings(params, scope);
      const load = askedLoadSettings(params, scope);
      const owner = ownerOf(connection.meta.principal);
      const { gitInfo, docs } = await surroundings(settings.cwd, owner, context);
      const ephemeral = params.ephemeral ?? false;
      const start = (more: Partial<ThreadFacts> = {}) => {
        const facts = newFacts(context, connection, {
          ephemeral,
          serviceName: params.serviceName ?? null,
          threadSource: params.threadSource ?? null,
          ...more,
        });
        return registry.start({ facts, settings, load, docs, gitInfo });
      };
      const { actor, again } =
        params.idempotencyKey == null
          ? { actor: await start(), again: false }
          : await keyedStarts.run({
              owner,
              key: params.idempotencyKey,
              ephemeral,
              threadId: platform.ids.uuid(),
              start: (id, startKey) => start({ id, startKey }),
              load: async (id) => (await registry.load(id, accessOf(connection), asItWas)).actor,
            });
      if (again) {
        await actor.during(async (state) => {
          const thread = (await viewer(context, connection))(state, actor.journal.place);
          reply({ thread, ...loadedView(state) });
          idle.follow(actor, connection);
        });
        return actor.goOn();
      }
      const state = await actor.peek();
      idle.follow(actor, connection);
      const thread = Encoded.of(threadView(state, actor.journal.place));
      reply(Encoded.with<Result<"thread/start">, "thread">(loadedView(state), "thread", thread));
      registry.announce(
        actor,
        "thread/started",
        Encoded.with<NotificationParams<"thread/started">, "thread">({}, "thread", thread),
      );
    },

    async "thread/resume"(params, { connection, reply }) {
      refusePermissionProfile("thread/resume", params);
      refuseTwoSandboxes(params);
      refuseWrongConfig(context, connection);
      const scope = settingsScope(context, connection);
      const threadId = await resumedThread(params, connection, context);
      const resumed = () =>
        registry.load(threadId, accessOf(connection), {
          changes: async (now, owner) => ({
            ...context.reachLookup.of(owner).narrowed(now),
            ...(await askedSettings(params, now.cwd, scope)),
          }),
          load: askedLoadSettings(params, scope),
          docs: projectDocs,
          replayed: params.afterCursor == null ? undefined : connection,
        });
      const { actor, cold } =
        params.history == null
          ? await resumed()
          : { actor: await startedFrom(params, connection), cold: true };
      // In the thread's mailbox: what the reply shows and what is told after it have no gap between them.
      const followed = actor.during(async (state) => {
        const { journal } = actor;
        const replay = await replayPoint(journal, params.afterCursor);
        const turns = params.excludeTurns ? [] : await allTurns(journal);
        const page =
          params.initialTurnsPage == null
            ? null
            : await turnsPage({ journal, state }, params.initialTurnsPage);
        const cursors = await startCursors(journal);
        const thread = (await viewer(context, connection))(state, journal.place, turns);
        reply({
          thread,
          ...loadedView(state),
          collaborationMode: modeView(state.settings),
          initialTurnsPage: page,
          ...cursors,
          ...(replay && { replay: { gap: replay.gap } }),
        });
        if (cold || !params.excludeTurns) tellUsage(connection, state);
        tellGoal(connection, state);
        tellViews(connection, state);
        idle.follow(actor, connection, replay?.cursor);
      });
      await followed.finally(() => idle.refused(actor, connection.unloadDelayMs));
      if (!cold) actor.offer({ kind: "takeUpGoal", at: platform.clock.now() });
      actor.goOn();
    },
  };
}

/** Where a replay starts; a gap if the journal no longer has what the client saw last. */
async function replayPoint(
  journal: JournalReader,
  text: string | null | undefined,
): Promise<{ readonly cursor?: Cursor; readonly gap: boolean } | undefined> {
  if (text == null) return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined) throw fault("invalidCursor", text.slice(0, 100));
  for await (const { commit } of journal.forwards(await journal.locate(cursor.seq - 1))) {
    return commit.seq === cursor.seq && commit.epoch === cursor.epoch
      ? { cursor, gap: false }
      : { gap: true };
  }
  return { gap: true };
}
