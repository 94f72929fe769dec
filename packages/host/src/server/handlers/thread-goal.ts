import { goalView } from "../../core/goal/goal-view.ts";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import type { Access } from "../../thread/stored-threads.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { nonEphemeralThread } from "../params/non-ephemeral-thread.ts";

/** Handlers for a thread's goal, which spans many turns. The thread may be loaded or not. */
export function threadGoalHandlers(context: HandlerContext): MethodHandlers {
  const { registry, platform } = context;
  /** The thread's state, if it can have a goal. */
  const withGoals = (threadId: string, access: Access): Promise<ThreadState> => {
    if (!context.configs.isEnabled("goals", threadId)) throw fault("featureOff", "goals");
    return nonEphemeralThread(registry, threadId, access, {
      ephemeral: "ephemeralGoal",
      archived: "threadNotFound",
    });
  };

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

/** Sends the goal to a client that resumes or forks a thread. */
export function sendGoal(connection: Connection, { facts, goal }: ThreadState): void {
  const { id: threadId } = facts;
  if (facts.ephemeral) return;
  if (goal === null) return connection.notify("thread/goal/cleared", { threadId });
  connection.notify("thread/goal/updated", { threadId, turnId: null, goal: goalView(threadId, goal.goal) });
}
