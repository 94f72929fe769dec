import type { Handlers } from "../call.ts";
import { greet } from "../greeting.ts";
import type { HandlerContext } from "./context.ts";

export function initializeHandlers({ home, platform }: HandlerContext): Handlers {
  return {
    initialize(params, { connection, reply }) {
      const { client, result } = greet(home, params);
      connection.initialize(client);
      reply(result);
      // Who says hello is about to want a thread.
      platform.timers.soon(() => platform.prepare());
    },
  };
}
