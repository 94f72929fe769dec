import { join } from "node:path";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { greet } from "../greeting.ts";
import type { HandlerContext } from "./context.ts";
import { wrongConfigFor } from "./settings.ts";

export function initializeHandlers(context: HandlerContext): Handlers {
  return {
    initialize(params, { connection, reply }) {
      const { client, result } = greet(context.home, params);
      connection.initialize(client);
      reply(result);
      greeted(context, connection);
    },
  };
}

/** What comes after the answer to a hello. */
export function greeted({ home, platform, wrongConfig }: HandlerContext, connection: Connection): void {
  if (wrongConfig !== null) {
    connection.notify("configWarning", {
      summary: "Invalid configuration; using defaults.",
      details: wrongConfigFor(wrongConfig, connection.meta.principal),
      path: join(home, "config.toml"),
    });
  }
  // Who says hello is about to want a thread.
  platform.timers.soon(() => platform.prepare());
}
