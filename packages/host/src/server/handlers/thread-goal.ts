import { goalView } from "../../core/goal/views.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Access } from "../../thread/stored.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "./context.ts";
import { lastingThread } from "./lasting-thread.ts";

/** What a thread is to reach over many turns. The thread may be loaded or not. */
export function threadGoalHandlers(context: HandlerContext): Handlers {
  const { registry, platform } = context;
  /** The thread as it is, if it can have a goal. */
  const withGoals = (threadId: string, access: Access): Promise<ThreadState> =>
    lastingThread(registry, threadId, access, { ephemeral: "ephemeralGoal", archived: "threadNotFound" });

  return {
    async "thread/goal/get"({ threadId }, { connection, reply }) {
      const { facts, goal } = await withGoals(threadId, accessOf(connection));
      reply({ goal: goal && goalView(facts.id, goal.goal) });
    },

    async "thread/goal/set"(params, { connection, reply }) {
      const { threadId, tokenBudget } = params;
      const access = accessOf(connection);
      await withGoals(threadId, access);
      const command = {
        kind: "setGoal",
        at: platform.clock.now(),
        objective: params.objective ?? undefined,
        status: params.status ?? undefined,
        tokenBudget,
        maxBudget: context.config.maxGoalTokenBudget,
      } as const;
      await registry.edit(threadId, access, command, ({ facts, goal }) =>
        reply({ goal: goalView(facts.id, goal!.goal) }),
      );
    },

    async "thread/goal/clear"({ threadId }, { connection, reply }) {
      const access = accessOf(connection);
      await withGoals(threadId, access);
      const command = { kind: "clearGoal", at: platform.clock.now() } as const;
      await registry.edit(threadId, access, command, (_state, _place, records) =>
        reply({ cleared: records.length > 0 }),
      );
    },
  };
}

/** Whoever takes up a thread learns whether it has a goal. */
export function tellGoal(connection: Connection, { facts, goal }: ThreadState): void {
  const { id: threadId } = facts;
  if (facts.ephemeral) return;
  if (goal === null) return connection.notify("thread/goal/cleared", { threadId });
  connection.notify("thread/goal/updated", { threadId, turnId: null, goal: goalView(threadId, goal.goal) });
}
