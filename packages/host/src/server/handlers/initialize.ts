import { configPath } from "../../config/config-file.ts";
import type { Connection } from "../connection.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";
import { initializeHandshake } from "../initialize-handshake.ts";
import { wrongConfigFor } from "../params/thread-settings.ts";
import { warnOfKeys } from "../warnings/config-key-warnings.ts";

export function initializeHandlers(context: HandlerContext): MethodHandlers {
  return {
    initialize(params, { connection, reply }) {
      const { client, result } = initializeHandshake(context.home, params);
      connection.initialize(client);
      reply(result);
      afterInitialize(context, connection);
    },
  };
}

/**
 * Warns about rules files with mistakes. The allow rules of such a file are ignored, which users would not notice
 * otherwise.
 */
async function warnOfRules({ rules }: HandlerContext, connection: Connection): Promise<void> {
  const { bad } = await rules.load();
  for (const { file, line, message } of bad) {
    const summary = "A rules file has a mistake: nothing that it allows counts.";
    connection.notify("configWarning", { summary, details: `${file}:${line}: ${message}`, path: file });
  }
}

/** Sends the warnings that follow the reply to `initialize`. */
export function afterInitialize(context: HandlerContext, connection: Connection): void {
  const { home, platform, wrongConfig, config, supervisor } = context;
  const path = configPath(home);
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
    supervisor.take("looking at keys", warnOfKeys(context, connection));
    context.accountNews.begin();
  }
  // Prepares the platform now, because a client that has just connected will soon start a thread.
  platform.timers.soon(() => platform.prepare());
}
