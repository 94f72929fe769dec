import type { Result } from "@bobbin/protocol";
import { Fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, viewer } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { refuseEphemeral } from "../params/non-ephemeral-thread.ts";

/** Handlers that unsubscribe from, unload, archive, unarchive or delete a thread. */
export function threadUnloadArchiveHandlers(context: HandlerContext): MethodHandlers {
  const { registry, idle, archive, platform } = context;
  return {
    async "thread/unsubscribe"({ threadId }, { connection, reply }) {
      const actor = await registry.findLoaded(threadId, accessOf(connection));
      if (actor === undefined) return reply({ status: "notLoaded" });
      if (!actor.subscriptions.has(connection)) return reply({ status: "notSubscribed" });
      // The reply is sent first, because unsubscribing may unload the thread at once.
      reply({ status: "unsubscribed" });
      idle.leave(actor, connection, connection.unloadDelayMs);
    },

    async "thread/unload"({ threadId, interrupt }, { connection, reply }) {
      const actor = await registry.findLoaded(threadId, accessOf(connection)).catch(malformed);
      if (actor === undefined) {
        const heldBy = await registry.holderOf(threadId, accessOf(connection));
        const isNamed = heldBy !== undefined && connection.client?.experimental === true;
        return reply({ status: "notLoaded", ...(isNamed && { heldBy }) });
      }
      // The turn is not interrupted if another subscriber prevents the unload.
      if (interrupt && actor.activeTurn !== undefined && othersOf(actor, connection) === 0) {
        const interrupted = actor.submit({ kind: "interrupt", at: platform.clock.now(), turnId: null });
        // If the journal cannot be written, the turn does not end, but the thread can still be unloaded.
        await interrupted.catch((cause: unknown) => {
          if (!actor.broken) throw cause;
        });
      }
      const refusal = refusalOf(actor, connection, interrupt ?? false);
      if (refusal !== undefined) return reply(refusal);
      await registry.unload(actor, "requested", () => reply({ status: "unloaded" }));
    },

    async "thread/archive"({ threadId }, { connection, reply }) {
      await archive.archive(threadId, accessOf(connection), () => reply({}));
    },

    async "thread/unarchive"({ threadId }, { connection, reply }) {
      const view = await viewer(context, connection);
      await archive.unarchive(threadId, accessOf(connection), (state, place) => {
        reply({ thread: view(state, place) });
      });
    },

    async "thread/delete"({ threadId }, { connection, reply }) {
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralDelete");
      await archive.delete(threadId, access, () => reply({}));
    },
  };
}

/** Rethrows the error for a malformed thread ID with the code that Bobbin's own methods use; `thread/unload` is one. */
function malformed(cause: unknown): never {
  if (!(cause instanceof Fault) || cause.code !== "invalidThreadId") throw cause;
  throw new Fault("malformedThreadId", cause.message);
}

/** The number of other connections that keep the thread loaded. */
function othersOf({ subscriptions }: Actor, connection: Connection): number {
  return subscriptions.retaining - (subscriptions.retains(connection) ? 1 : 0);
}

/** Why a thread cannot be unloaded now. Activity is reported before other subscribers are. */
function refusalOf(
  actor: Actor,
  connection: Connection,
  interrupt: boolean,
): Result<"thread/unload"> | undefined {
  const otherSubscribers = othersOf(actor, connection);
  const turnId = actor.activeTurn;
  // With `interrupt`, child threads are interrupted, too, and pending requests and calls are dropped.
  const descendants = interrupt ? 0 : actor.children;
  const pending = { pendingRequests: actor.requests.length, pendingCalls: actor.pendingCalls };
  const waits = !interrupt && pending.pendingRequests + pending.pendingCalls > 0;
  // The turn of a thread with a broken journal never ends.
  const runs = turnId !== undefined && !actor.broken && !(interrupt && otherSubscribers > 0);
  const active = runs || descendants > 0 || waits;
  const status = active ? "active" : otherSubscribers > 0 ? "otherSubscribers" : undefined;
  if (status === undefined) return undefined;
  if (!connection.client?.experimental) return { status };
  return {
    status,
    blockedBy: {
      turnId: turnId ?? null,
      otherSubscribers,
      ...pending,
      ...(descendants > 0 && { descendants }),
    },
  };
}
