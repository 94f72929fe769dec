import type { ThreadState } from "../../core/state.ts";
import { turnStarted } from "../../core/turn/turn-view.ts";
import { fault } from "../../errors.ts";
import type { Access } from "../../thread/stored-threads.ts";
import { accessOf, type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { nonEphemeralThread } from "../params/non-ephemeral-thread.ts";
import { readInput, readMessageId, storeFiles } from "../params/user-input.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** Handlers for a thread's queue: input that waits until the thread is idle. The thread may be loaded or not. */
export function threadQueueHandlers(context: HandlerContext): MethodHandlers {
  const { registry, platform } = context;
  const now = () => platform.clock.now();

  /** The thread's state, if it can have a queue. */
  const withQueue = (threadId: string, access: Access): Promise<ThreadState> =>
    nonEphemeralThread(registry, threadId, access, { ephemeral: "ephemeralQueue", archived: "archived" });

  return {
    async "thread/queue/add"(params, { connection, reply }) {
      const { threadId } = params;
      const input = [...readInput(params.input)];
      if (input.length === 0) throw fault("queueNeedsInput");
      const clientUserMessageId = readMessageId(params.clientUserMessageId)!;
      const access = accessOf(connection);
      const { settings } = await withQueue(threadId, access);
      await reachOf(context, connection).checkInput(input, settings.cwd);
      const { responsesapiClientMetadata: metadata } = params;
      const submission = {
        id: platform.ids.uuid(),
        clientUserMessageId,
        input,
        ...(metadata != null && { responsesapiClientMetadata: metadata }),
      };
      await registry.edit(threadId, access, { kind: "queueInput", at: now(), submission }, () =>
        reply({ queuedSubmission: submission }),
      );
    },

    async "thread/queue/list"({ threadId, cursor, limit }, { connection, reply }) {
      const { queue } = await withQueue(threadId, accessOf(connection));
      if (cursor != null && !/^\d{1,9}$/.test(cursor)) throw fault("invalidCursor", cursor.slice(0, 100));
      const from = Number(cursor ?? 0);
      const to = from + Math.min(Math.max(limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
      const nextCursor = to < queue.items.length ? String(to) : null;
      reply({ data: queue.items.slice(from, to), nextCursor });
    },

    async "thread/queue/update"(params, { connection, reply }) {
      const { threadId, queuedSubmissionId: id } = params;
      const input = readInput(params.input);
      if (input.length === 0) throw fault("queueNeedsInput");
      const access = accessOf(connection);
      const { settings } = await withQueue(threadId, access);
      await reachOf(context, connection).checkInput(input, settings.cwd);
      const metadata = params.responsesapiClientMetadata ?? {};
      const command = {
        kind: "changeQueued",
        at: now(),
        id,
        input,
        // An empty map keeps what the submission has.
        ...(Object.keys(metadata).length > 0 && { responsesapiClientMetadata: metadata }),
      } as const;
      await registry.edit(threadId, access, command, ({ queue }) =>
        reply({ queuedSubmission: queue.items.find((item) => item.id === id)! }),
      );
    },

    async "thread/queue/delete"({ threadId, queuedSubmissionId: id }, { connection, reply }) {
      const access = accessOf(connection);
      await withQueue(threadId, access);
      await registry.edit(
        threadId,
        access,
        { kind: "removeQueued", at: now(), id },
        (_state, _place, records) => reply({ deleted: records.length > 0 }),
      );
    },

    async "thread/queue/reorder"({ threadId, queuedSubmissionIds: ids }, { connection, reply }) {
      const access = accessOf(connection);
      await withQueue(threadId, access);
      await registry.edit(threadId, access, { kind: "reorderQueue", at: now(), ids }, () => reply({}));
    },

    async "thread/queue/start"({ threadId, queuedSubmissionId }, { connection, reply }) {
      const { status, queue, settings } = await withQueue(threadId, accessOf(connection));
      if (status.type === "notLoaded") {
        const holder = await registry.holderOf(threadId, accessOf(connection));
        throw holder === undefined ? fault("resumeFirst") : fault("heldElsewhere", threadId, holder);
      }
      const actor = await registry.find(threadId, accessOf(connection));
      const fresh = { turnId: platform.ids.uuid(), userItemId: platform.ids.uuid() };
      const id = queuedSubmissionId ?? queue.items[0]?.id ?? null;
      const input = queue.items.find((item) => item.id === id)?.input ?? [];
      const blobs = await storeFiles(actor, input, context, settings.cwd);
      await actor.submit({ kind: "startQueued", at: now(), id, ...fresh, asked: true, blobs }, () =>
        reply({ turn: turnStarted(fresh.turnId, null) }),
      );
    },
  };
}
