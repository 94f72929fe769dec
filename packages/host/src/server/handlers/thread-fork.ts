import type { Params } from "@bobbin/protocol";
import { threadView } from "../../core/life/thread-view.ts";
import { Fault, fault } from "../../errors.ts";
import { forkHistory } from "../../history/fork-history.ts";
import { allTurns } from "../../history/stored-turns.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Follower } from "../../thread/thread-loader.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { refusePermissionProfile, requestedFolder } from "../params/requested-workspace.ts";
import { threadAt } from "../params/thread-path.ts";
import { askedLoadSettings, forkSettings, loadScope } from "../params/thread-settings.ts";
import { workspaceContext } from "../params/workspace-context.ts";
import { loadedView, newFacts, sendUsage } from "../replies/thread-replies.ts";
import { warnOfRequestKeys } from "../warnings/config-key-warnings.ts";
import { sendGoal } from "./thread-goal.ts";

export type Fork = (
  connection: Connection,
  params: Params<"thread/fork">,
  /** Joins the new thread. */
  follower: Follower,
  /** Computes the settings of the fork. */
  settingsOf?: typeof forkSettings,
) => Promise<Actor>;

/** Creates the function that forks a thread: a new thread with the history of another. */
export function forker(context: HandlerContext): Fork {
  const { registry } = context;
  return async (connection, params, follower, settingsOf = forkSettings) => {
    await loadScope(context, connection);
    const threadId = params.path ? await threadAt(params.path, connection, context) : params.threadId;
    const forked = registry.read(threadId, accessOf(connection), async (journal, from) => {
      if (journal.place.archived) throw fault("archived", from.facts.id);
      const facts = newFacts(context, connection, {
        ephemeral: params.ephemeral ?? false,
        serviceName: from.facts.serviceName,
        threadSource: params.threadSource ?? null,
        forkedFromId: from.facts.id,
      });
      const scope = await loadScope(context, connection, requestedFolder(params) ?? from.settings.cwd);
      const settings = await settingsOf(from.settings, params, scope);
      const load = { ...from.load, ...(await context.sealed(askedLoadSettings(params, scope))) };
      const { docs, gitInfo } = await workspaceContext(settings, facts.owner, context);
      const history = forkHistory(journal, from, params);
      const request = { facts, settings, load, docs, gitInfo, history, origin: journal };
      return registry.start(request, follower);
    });
    return forked.catch((cause: unknown) => {
      // For forks, clients expect another code for this error.
      throw cause instanceof Fault && cause.code === "threadNotLoaded" ? fault("noRollout", threadId) : cause;
    });
  };
}

export function threadForkHandlers(context: HandlerContext, fork: Fork): MethodHandlers {
  const { registry, idle } = context;
  return {
    async "thread/fork"(params, { connection, reply }) {
      refusePermissionProfile("thread/fork", params);
      await warnOfRequestKeys(context, connection, "thread/fork", params.config);
      if (params.lastTurnId != null && params.beforeTurnId != null) throw fault("twoForkPoints");
      if (params.deferGoalContinuation && params.ephemeral) throw fault("deferredEphemeral");
      await fork(connection, params, {
        async join(actor, state) {
          const turns = params.excludeTurns ? [] : await allTurns(actor.journal);
          const thread = threadView(state, actor.journal.place);
          reply({ thread: { ...thread, turns }, ...loadedView(state) });
          idle.follow(actor, connection);
          if (!params.excludeTurns) sendUsage(connection, state);
          registry.announce(actor, "thread/started", { thread });
          if (state.goal !== null) sendGoal(connection, state);
        },
        joined: (actor) => idle.refused(actor, connection.unloadDelayMs),
      });
    },
  };
}
