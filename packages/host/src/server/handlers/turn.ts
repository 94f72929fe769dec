import { acceptedTurn } from "../../core/turn/accepted.ts";
import { turnStarted } from "../../core/turn/views.ts";
import { fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { namesPlaces, refusePermissionProfile } from "./asked-places.ts";
import { accessOf, type HandlerContext } from "./context.ts";
import { askedSettings, settingsScope } from "./settings.ts";
import { readContext, readInput, readMessageId, takeFiles } from "./user-input.ts";

export function turnHandlers(context: HandlerContext): Handlers {
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
      // Where the thread is matters to what is asked from there, and most ask nothing.
      const cwd = namesPlaces(params) ? (await actor.peek()).settings.cwd : "";
      const changes = await askedSettings(params, cwd, scope);
      const blobs = await takeFiles(actor, input, context, connection, changes.cwd);
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
        // The turn that takes the input: this one, the one that was running already, or the one that took it before.
        (state) =>
          reply({ turn: turnStarted(acceptedTurn(state, clientUserMessageId) ?? state.turn!.id, null) }),
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
          blobs: await takeFiles(actor, input, context, connection),
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

    async "turn/interrupt"({ threadId, turnId }, { connection, reply }) {
      const actor = await own(connection, threadId);
      // An empty id is what clients send that have not heard of the turn's id yet.
      const command = {
        kind: "interrupt",
        at: platform.clock.now(),
        turnId: turnId === "" ? null : turnId,
      } as const;
      await actor.submit(command, () => reply({}));
    },
  };
}
