import { fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import { commandItem } from "../../tool/exec/command-item.ts";
import { shellLine } from "../../tool/exec/shell-line.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { checkProgram } from "../params/program-params.ts";
import { page } from "../replies/list-page.ts";

/** Default time limit of a user's command. */
const SHELL_TIMEOUT_MS = 60 * 60_000;
const MAX_TIMEOUT_MS = 7 * 24 * 60 * 60_000;

/** Handlers for users' commands in threads, and for background terminals. */
export function terminalHandlers(context: HandlerContext): MethodHandlers {
  const { registry, platform, exec } = context;
  const own = (connection: Connection, threadId: string): Promise<Actor> =>
    registry.find(threadId, accessOf(connection));
  return {
    async "thread/shellCommand"({ threadId, command, timeoutMs }, { connection, reply }) {
      const text = command.trim();
      checkProgram({ command: [text] });
      if (timeoutMs != null && timeoutMs < 0)
        throw fault("invalidParams", "timeoutMs", "timeoutMs must not be negative");
      const actor = await own(connection, threadId);
      const { settings } = await actor.peek();
      const at = platform.clock.now();
      const item = commandItem(
        {
          id: platform.ids.uuid(),
          command: shellLine(exec.shell, text, true).shown,
          cwd: settings.cwd,
          commandActions: [{ type: "unknown", command: text }],
          source: "userShell",
          processId: null,
        },
        at,
      );
      exec.prepareShell(actor.id, {
        item,
        text,
        timeoutMs: Math.min(timeoutMs ?? SHELL_TIMEOUT_MS, MAX_TIMEOUT_MS),
      });
      try {
        await actor.submit({ kind: "startShell", at, turnId: platform.ids.uuid(), item }, () => reply({}));
      } catch (cause) {
        exec.forgetShell(item.id);
        throw cause;
      }
    },

    async "thread/backgroundTerminals/list"({ threadId, cursor, limit }, { connection, reply }) {
      const actor = await own(connection, threadId);
      reply(page(exec.backgroundTerminals(await actor.peek()), cursor, limit));
    },

    async "thread/backgroundTerminals/terminate"({ threadId, processId }, { connection, reply }) {
      const actor = await own(connection, threadId);
      reply({ terminated: exec.terminate(await actor.peek(), processId) });
    },

    async "thread/backgroundTerminals/clean"({ threadId }, { connection, reply }) {
      const actor = await own(connection, threadId);
      const state = await actor.peek();
      for (const { processId } of state.terminals) exec.terminate(state, processId);
      reply({});
    },
  };
}
