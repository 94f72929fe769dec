import { join } from "node:path";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { greet } from "../greeting.ts";
import { isHostUser } from "../host-user.ts";
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

/** Rules files with a mistake allow nothing, which nobody would notice otherwise. */
async function warnOfRules({ rules }: HandlerContext, connection: Connection): Promise<void> {
  const { bad } = await rules.load();
  for (const { file, line, message } of bad) {
    const summary = "A rules file has a mistake: nothing that it allows counts.";
    connection.notify("configWarning", { summary, details: `${file}:${line}: ${message}`, path: file });
  }
}

/** What comes after the answer to a hello. */
export function greeted(context: HandlerContext, connection: Connection): void {
  const { home, platform, wrongConfig, config, supervisor } = context;
  const path = join(home, "config.toml");
  if (wrongConfig !== null) {
    connection.notify("configWarning", {
      summary: "Invalid configuration; using defaults.",
      details: wrongConfigFor(wrongConfig, connection.meta.principal),
      path,
    });
  }
  if (isHostUser(connection.meta.principal)) {
    for (const summary of config.warnings)
      connection.notify("configWarning", { summary, details: null, path });
    supervisor.take("looking at rules", warnOfRules(context, connection));
  }
  // Who says hello is about to want a thread.
  platform.timers.soon(() => platform.prepare());
}
