import type { Params } from "@bobbin/protocol";
import { threadView } from "../../core/life/views.ts";
import { Fault, fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import { forkHistory } from "../../thread/fork.ts";
import { allTurns } from "../../thread/history.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { refusePermissionProfile } from "./asked-places.ts";
import { accessOf, type HandlerContext } from "./context.ts";
import { loadedView, newFacts, tellUsage } from "./new-thread.ts";
import { askedLoadSettings, forkSettings, refuseWrongConfig, settingsScope } from "./settings.ts";
import { surroundings } from "./surroundings.ts";
import { tellGoal } from "./thread-goal.ts";
import { threadAt } from "./thread-path.ts";

export type Fork = (
  connection: Connection,
  params: Params<"thread/fork">,
  /** With the new thread, while the one that it was taken from is read. */
  forked: (actor: Actor) => Promise<void>,
  /** What it runs on. */
  settingsOf?: typeof forkSettings,
) => Promise<void>;

/** Starts threads that have the history of others. */
export function forker(context: HandlerContext): Fork {
  const { registry } = context;
  return async (connection, params, forked, settingsOf = forkSettings) => {
    refuseWrongConfig(context, connection);
    const scope = settingsScope(context, connection);
    const threadId = params.path ? await threadAt(params.path, connection, context) : params.threadId;
    const done = registry.read(threadId, accessOf(connection), async (journal, from) => {
      if (journal.place.archived) throw fault("archived", from.facts.id);
      const facts = newFacts(context, connection, {
        ephemeral: params.ephemeral ?? false,
        serviceName: from.facts.serviceName,
        threadSource: params.threadSource ?? null,
        forkedFromId: from.facts.id,
      });
      const settings = await settingsOf(from.settings, params, scope);
      const load = { ...from.load, ...askedLoadSettings(params, scope) };
      const { docs, gitInfo } = await surroundings(settings.cwd, facts.owner, context);
      const history = forkHistory(journal, from, params);
      await forked(await registry.start({ facts, settings, load, docs, gitInfo, history, origin: journal }));
    });
    await done.catch((cause: unknown) => {
      // What can not be read can not be forked; clients know it by another name there.
      throw cause instanceof Fault && cause.code === "threadNotLoaded" ? fault("noRollout", threadId) : cause;
    });
  };
}

export function threadForkHandlers(context: HandlerContext, fork: Fork): Handlers {
  const { registry, idle } = context;
  return {
    async "thread/fork"(params, { connection, reply }) {
      refusePermissionProfile("thread/fork", params);
      if (params.lastTurnId != null && params.beforeTurnId != null) throw fault("twoForkPoints");
      if (params.deferGoalContinuation && params.ephemeral) throw fault("deferredEphemeral");
      await fork(connection, params, async (actor) => {
        const state = await actor.peek();
        const turns = params.excludeTurns ? [] : await allTurns(actor.journal);
        const thread = threadView(state, actor.journal.place);
        try {
          reply({ thread: { ...thread, turns }, ...loadedView(state) });
          idle.follow(actor, connection);
        } finally {
          idle.refused(actor, connection.unloadDelayMs);
        }
        if (!params.excludeTurns) tellUsage(connection, state);
        registry.announce(actor, "thread/started", { thread });
        if (state.goal !== null) tellGoal(connection, state);
      });
    },
  };
}
