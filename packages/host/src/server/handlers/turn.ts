import { checkRequestedSettings } from "../../config/requirement-check.ts";
import { acceptedTurn } from "../../core/turn/accepted-inputs.ts";
import { turnStarted } from "../../core/turn/turn-view.ts";
import { fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { namesWorkspace, refusePermissionProfile } from "../params/requested-workspace.ts";
import { askedSettings, askedTurnSettings, settingsScope } from "../params/thread-settings.ts";
import { readContext, readInput, readMessageId, storeInputFiles } from "../params/user-input.ts";

/** Handlers that start, steer and interrupt turns. */
export function turnHandlers(context: HandlerContext): MethodHandlers {
  const { registry, platform } = context;
  const own = async (connection: Connection, threadId: string): Promise<Actor> => {
    const actor = await registry.find(threadId, accessOf(connection));
    return actor;
  };
  return {
    async "turn/start"(params, { connection, reply }) {
      refusePermissionProfile("turn/start", params);
      const actor = await own(connection, params.threadId);
      const input = readInput(params.input);
      const clientUserMessageId = readMessageId(params.clientUserMessageId);
      const scope = settingsScope(context, connection);
      // Relative paths start at the thread's folder. It is read only if the request names a path.
      const cwd = namesWorkspace(params) ? (await actor.peek()).settings.cwd : "";
      const changes = await askedSettings(params, cwd, scope);
      const blobs = await storeInputFiles(actor, input, context, connection, changes.cwd);
      await actor.submit(
        {
          kind: "startTurn",
          at: platform.clock.now(),
          turnId: platform.ids.uuid(),
          userItemId: platform.ids.uuid(),
          clientUserMessageId,
          input,
          context: readContext(params.additionalContext),
          outputSchema: params.outputSchema ?? null,
          changes,
          blobs,
        },
        // The turn that takes the input: the new turn, the turn that was already running, or, for a repeated input,
        // the turn that took it earlier.
        (state) => {
          context.warnings.beforeTurn(actor, state);
          reply({ turn: turnStarted(acceptedTurn(state, clientUserMessageId) ?? state.turn!.id, null) });
        },
      );
    },

    async "turn/steer"(params, { connection, reply }) {
      const actor = await own(connection, params.threadId);
      if (params.expectedTurnId === "") throw fault("expectedTurnEmpty");
      const input = readInput(params.input);
      const clientUserMessageId = readMessageId(params.clientUserMessageId);
      await actor.submit(
        {
          kind: "steer",
          at: platform.clock.now(),
          expectedTurnId: params.expectedTurnId,
          userItemId: platform.ids.uuid(),
          clientUserMessageId,
          input,
          blobs: await storeInputFiles(actor, input, context, connection),
          context: readContext(params.additionalContext),
        },
        (state) => reply({ turnId: acceptedTurn(state, clientUserMessageId) ?? params.expectedTurnId }),
      );
    },

    async "thread/compact/start"({ threadId }, { connection, reply }) {
      const actor = await own(connection, threadId);
      const command = { kind: "compact", at: platform.clock.now(), turnId: platform.ids.uuid() } as const;
      await actor.submit(command, () => reply({}));
    },

    async "turn/settings/update"({ threadId, turnId, ...requested }, { connection, reply }) {
      const actor = await own(connection, threadId);
      const changes = askedTurnSettings(requested);
      const { requirements, permissionProfiles } = context.config;
      checkRequestedSettings(requirements, changes, permissionProfiles);
      const command = {
        kind: "changeTurnSettings",
        at: platform.clock.now(),
        turnId,
        changes,
      } as const;
      await actor.submit(command, ({ turn }) => {
        reply({ status: turn?.id === turnId ? "applied" : "targetUnavailable" });
      });
    },

    async "turn/interrupt"({ threadId, turnId }, { connection, reply }) {
      const actor = await own(connection, threadId);
      // A client that does not know the turn's ID yet sends an empty one.
      const command = {
        kind: "interrupt",
        at: platform.clock.now(),
        turnId: turnId === "" ? null : turnId,
      } as const;
      await actor.submit(command, () => reply({}));
    },
  };
}
