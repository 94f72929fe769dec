import type { Result } from "@bobbin/protocol";
import { Fault, fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, viewer } from "./context.ts";
import { refuseEphemeral } from "./lasting-thread.ts";

/** How a thread comes to be not loaded: left, unloaded, archived, deleted. */
export function threadLeaveHandlers(context: HandlerContext): Handlers {
  const { registry, idle, index, platform } = context;
  return {
    async "thread/unsubscribe"({ threadId }, { connection, reply }) {
      const actor = await registry.findLoaded(threadId, accessOf(connection));
      if (actor === undefined) return reply({ status: "notLoaded" });
      if (!actor.subscriptions.has(connection)) return reply({ status: "notSubscribed" });
      // The reply first: with no delay, leaving is what unloads it.
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
      // Not for nothing: with another subscriber there, the unload is refused all the same.
      if (interrupt && actor.activeTurn !== undefined && othersOf(actor, connection) === 0) {
        const interrupted = actor.submit({ kind: "interrupt", at: platform.clock.now(), turnId: null });
        // A journal that takes nothing more keeps the turn from its end, and nobody from unloading the thread.
        await interrupted.catch((cause: unknown) => {
          if (!actor.broken) throw cause;
        });
      }
      const refusal = refusalOf(actor, connection, interrupt ?? false);
      if (refusal !== undefined) return reply(refusal);
      await registry.unload(actor, "requested", () => reply({ status: "unloaded" }));
    },

    async "thread/archive"({ threadId }, { connection, reply }) {
      const access = accessOf(connection);
      await registry.withStored(threadId, access, "archived", async (journal, head, announce) => {
        try {
          if (journal.place.archived) throw fault("noRollout", threadId);
          await journal.archive(true);
          context.reindex(head, journal.place);
        } finally {
          await journal.close();
        }
        reply({});
        announce("thread/archived", { threadId: head.state.facts.id });
      });
    },

    async "thread/unarchive"({ threadId }, { connection, reply }) {
      const access = accessOf(connection);
      const view = await viewer(context, connection);
      // What is archived is not loaded. Refused before it is unloaded for it.
      if ((await registry.findLoaded(threadId, accessOf(connection))) !== undefined)
        throw fault("notArchived", threadId);
      const unarchived = registry.withStored(
        threadId,
        access,
        "requested",
        async (journal, head, announce) => {
          try {
            if (!journal.place.archived) throw fault("notArchived", threadId);
            await journal.archive(false);
            context.reindex(head, journal.place);
          } finally {
            await journal.close();
          }
          const { state } = head;
          reply({ thread: view({ ...state, status: { type: "notLoaded" } }, journal.place) });
          announce("thread/unarchived", { threadId: state.facts.id });
        },
      );
      await unarchived.catch((cause: unknown) => {
        throw cause instanceof Fault && cause.code === "noRollout" ? fault("notArchived", threadId) : cause;
      });
    },

    async "thread/delete"({ threadId }, { connection, reply }) {
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralDelete");
      // Before it is unloaded: a copy of its texts that cannot be removed would be listed and found again.
      await index.mustBeOnDisk();
      await registry.withStored(threadId, access, "deleted", async (journal, { state }, announce) => {
        if (state.facts.startKey !== undefined) await context.keyedStarts.forget(state.facts.startKey);
        // The journal last: as long as it is there, whoever is next finds the thread and lists it again.
        journal.leaveUndone();
        await index.forget(state.facts.id);
        await journal.destroy();
        reply({});
        announce("thread/deleted", { threadId: state.facts.id });
      });
    },
  };
}

/** The method is ours, and says so as methods of ours do. */
function malformed(cause: unknown): never {
  if (!(cause instanceof Fault) || cause.code !== "invalidThreadId") throw cause;
  throw new Fault("malformedThreadId", cause.message);
}

/** How many connections keep the thread loaded besides this one. */
function othersOf({ subscriptions }: Actor, connection: Connection): number {
  return subscriptions.retaining - (subscriptions.retains(connection) ? 1 : 0);
}

/** Why a thread is not unloaded now. What is under way counts before who else is there. */
function refusalOf(
  actor: Actor,
  connection: Connection,
  interrupt: boolean,
): Result<"thread/unload"> | undefined {
  const otherSubscribers = othersOf(actor, connection);
  const turnId = actor.activeTurn;
  // Whoever wants it interrupted wants its children interrupted, too, and what it waits for outside of a turn given up.
  const descendants = interrupt ? 0 : actor.children;
  const pending = { pendingRequests: actor.requests.length, pendingCalls: actor.pendingCalls };
  const waits = !interrupt && pending.pendingRequests + pending.pendingCalls > 0;
  // The turn of one whose journal takes nothing more will never end.
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
