import type { NotificationParams, Params, Result } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import type { ThreadFacts, ThreadSettings } from "../../core/life/records.ts";
import { modeView, threadView } from "../../core/life/thread-view.ts";
import { fault } from "../../errors.ts";
import { allTurns } from "../../history/stored-turns.ts";
import { startCursors, turnsPage } from "../../history/turn-pages.ts";
import { replayPoint } from "../../thread/replay-point.ts";
import type { Follower, LoadRequest } from "../../thread/thread-loader.ts";
import { ownerOf } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, viewer } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { checkHistoryItems } from "../params/check-history-items.ts";
import { refusePermissionProfile, requestedFolder } from "../params/requested-workspace.ts";
import { resumedThread } from "../params/thread-path.ts";
import {
  askedLoadSettings,
  askedSettings,
  loadScope,
  newSettings,
  refuseTwoSandboxes,
  required,
  settingsScope,
} from "../params/thread-settings.ts";
import { workspaceContext } from "../params/workspace-context.ts";
import { loadedView, newFacts, sendUsage, sendViews } from "../replies/thread-replies.ts";
import { warnOfRequestKeys } from "../warnings/config-key-warnings.ts";
import { sendGoal } from "./thread-goal.ts";

/** Handlers that start or resume a thread. The connection becomes a subscriber. */
export function threadLoadHandlers(context: HandlerContext): MethodHandlers {
  const { registry, idempotentStarts, platform, idle } = context;
  const projectDocs = async (settings: ThreadSettings, owner: string) =>
    (await workspaceContext(settings, owner, context)).docs;
  /**
   * Starts a thread from history items that a client sent with `thread/resume`. Clients get the notifications of a
   * load, not those of a start.
   */
  const startFrom = async (
    params: Params<"thread/resume">,
    connection: Connection,
    follower: Follower,
  ): Promise<void> => {
    const items = params.history ?? [];
    if (items.length === 0) throw fault("historyEmpty");
    checkHistoryItems(items);
    const scope = await loadScope(context, connection, requestedFolder(params));
    const settings = await newSettings(params, scope);
    const load = await context.sealed(askedLoadSettings(params, scope));
    const facts = newFacts(context, connection, { ephemeral: false, serviceName: null, threadSource: null });
    const at = platform.clock.now();
    const history = (async function* () {
      yield [{ type: "itemsInjected", at, items } as const];
    })();
    const workspace = await workspaceContext(settings, facts.owner, context);
    await registry.start(
      { facts, settings, load, ...workspace, history },
      {
        ...follower,
        join(actor, state, cold) {
          registry.announce(actor, "thread/status/changed", { threadId: actor.id, status: actor.status });
          return follower.join(actor, state, cold);
        },
      },
    );
  };
  const unchanged: LoadRequest = {
    changes: async (now, owner) => context.reachLookup.of(owner).narrowed(now),
    load: {},
    docs: projectDocs,
  };
  return {
    async "thread/start"(params, { connection, reply }) {
      refusePermissionProfile("thread/start", params);
      await warnOfRequestKeys(context, connection, "thread/start", params.config);
      const scope = await loadScope(context, connection, requestedFolder(params));
      const settings = await newSettings(params, scope);
      const load = await context.sealed(askedLoadSettings(params, scope));
      const owner = ownerOf(connection.meta.principal);
      const { gitInfo, docs } = await workspaceContext(settings, owner, context);
      const ephemeral = params.ephemeral ?? false;
      const start = (more: Partial<ThreadFacts> = {}) => {
        const facts = newFacts(context, connection, {
          ephemeral,
          serviceName: params.serviceName ?? null,
          threadSource: params.threadSource ?? null,
          ...more,
        });
        return registry.start({ facts, settings, load, docs, gitInfo }, starter);
      };
      const starter: Follower = {
        async join(actor, state) {
          idle.follow(actor, connection);
          if (params.experimentalRawEvents) context.rawItems.follow(actor, connection);
          const thread = Encoded.of(threadView(state, actor.journal.place));
          reply(Encoded.with<Result<"thread/start">, "thread">(loadedView(state), "thread", thread));
          registry.announce(
            actor,
            "thread/started",
            Encoded.with<NotificationParams<"thread/started">, "thread">({}, "thread", thread),
          );
        },
      };
      /** The follower for a thread that an earlier request with the same key started. */
      const again: Follower = {
        async join(actor, state) {
          const thread = (await viewer(context, connection))(state, actor.journal.place);
          reply({ thread, ...loadedView(state) });
          idle.follow(actor, connection);
        },
      };
      if (params.idempotencyKey == null) {
        await start();
        return;
      }
      await idempotentStarts.run({
        owner,
        key: params.idempotencyKey,
        ephemeral,
        threadId: platform.ids.uuid(),
        start: (id, startKey) => start({ id, startKey }),
        load: (id) => registry.load(id, accessOf(connection), unchanged, again),
      });
    },

    async "thread/resume"(params, { connection, reply }) {
      refusePermissionProfile("thread/resume", params);
      refuseTwoSandboxes(params);
      await warnOfRequestKeys(context, connection, "thread/resume", params.config);
      await loadScope(context, connection);
      const threadId = await resumedThread(params, connection, context);
      const follower: Follower = {
        // Runs in the thread's mailbox, so that no notification is lost between the reply and the start of the
        // subscription.
        async join(actor, state, cold) {
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
          if (cold || page !== null || !params.excludeTurns) sendUsage(connection, state);
          sendGoal(connection, state);
          sendViews(connection, state);
          idle.follow(actor, connection, replay?.cursor);
          if (!cold) actor.offer({ kind: "takeUpGoal", at: platform.clock.now() });
        },
        joined: (actor) => idle.refused(actor, connection.unloadDelayMs),
      };
      if (params.history != null) return startFrom(params, connection, follower);
      const request: LoadRequest = {
        changes: async (now, owner) => {
          const scope = await loadScope(context, connection, requestedFolder(params) ?? now.cwd);
          return {
            ...context.reachLookup.of(owner).narrowed(now),
            ...required(now, scope.config),
            ...(await askedSettings(params, now.cwd, scope)),
          };
        },
        load: await context.sealed(askedLoadSettings(params, settingsScope(context, connection))),
        docs: projectDocs,
        replayed: params.afterCursor == null ? undefined : connection,
      };
      await registry.load(threadId, accessOf(connection), request, follower);
    },
  };
}
