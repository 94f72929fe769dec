import type { Handlers } from "../call.ts";
import { accessOf, type HandlerContext } from "./context.ts";

/** No goal can be set yet, so none is: clients ask whenever they take up a thread. */
export function threadGoalHandlers({ registry }: HandlerContext): Handlers {
  return {
    async "thread/goal/get"({ threadId }, { connection, reply }) {
      await registry.read(threadId, accessOf(connection, threadId), async () => reply({ goal: null }));
    },
  };
}
