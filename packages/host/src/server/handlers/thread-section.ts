import { Fault, fault } from "../../errors.ts";
import type { ThreadQueries } from "../../history/thread-queries.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import { positionBetween } from "../../thread/thread-sections.ts";
import { ownerOf } from "../authorize.ts";
import { accessOf, type HandlerContext, seenOwner } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { refuseEphemeral } from "../params/non-ephemeral-thread.ts";
import { relatedThreadId } from "../params/related-thread-id.ts";

export function sectionHandlers({
  sections,
  lists,
  registry,
  platform,
  notify,
}: HandlerContext): MethodHandlers {
  return {
    async "threadSection/list"(params, { connection, reply }) {
      reply(await sections.list(seenOwner(connection), params));
    },
    async "threadSection/create"(params, { connection, reply }) {
      const owner = ownerOf(connection.meta.principal);
      const created = await sections.create(owner, params);
      reply(created);
      notify(owner, "threadSection/changed", { sectionId: created.section.id });
    },
    async "threadSection/update"(params, { connection, reply }) {
      const { sectionId } = params;
      const owner = await sections.ownerOf(sectionId);
      reply(await sections.update(seenOwner(connection), params));
      if (owner !== undefined) notify(owner, "threadSection/changed", { sectionId });
    },
    async "threadSection/delete"(params, { connection, reply }) {
      const { sectionId } = params;
      const owner = await sections.ownerOf(sectionId);
      reply(await sections.delete(seenOwner(connection), params));
      if (owner !== undefined) notify(owner, "threadSection/changed", { sectionId });
    },
    async "thread/section/move"({ threadId, sectionId, beforeThreadId }, { connection, reply }) {
      const owner = seenOwner(connection);
      const access = accessOf(connection);
      const before = beforeThreadId ?? null;
      if (before !== null && sectionId === null) throw fault("beforeNothing");
      await refuseEphemeral(registry, threadId, access, "ephemeralSection");
      await registry.read(threadId, access, async () => {}).catch(asNotFound(threadId));
      if (sectionId !== null && !(await sections.all(owner)).some(({ id }) => id === sectionId)) {
        throw fault("sectionMissing", sectionId);
      }
      if (before !== null && relatedThreadId("before", before) === parseThreadId(threadId))
        throw fault("beforeItself", before);
      const position = sectionId === null ? null : await positionIn(lists, owner, sectionId, before);
      const at = platform.clock.now();
      const command = { kind: "changeSection", at, sectionId, position } as const;
      await registry.edit(threadId, access, command, () => reply({}));
    },
  };
}

function asNotFound(threadId: string): (cause: unknown) => never {
  return (cause) => {
    throw cause instanceof Fault && cause.code === "threadNotLoaded"
      ? fault("threadNotFound", threadId)
      : cause;
  };
}

/**
 * A sort position between the thread `beforeThreadId` and its predecessor. At the end of the section if
 * `beforeThreadId` is null.
 */
async function positionIn(
  lists: Pick<ThreadQueries, "inSection">,
  owner: string | undefined,
  sectionId: string,
  beforeThreadId: string | null,
): Promise<number> {
  let left: number | undefined;
  for await (const { id, sectionPosition } of lists.inSection(owner, sectionId)) {
    const position = sectionPosition ?? 0;
    if (id === beforeThreadId) return roomBetween(left, position);
    left = position;
  }
  if (beforeThreadId !== null) throw fault("notInSection", beforeThreadId, sectionId);
  return roomBetween(left, undefined);
}

function roomBetween(left: number | undefined, right: number | undefined): number {
  const position = positionBetween(left, right);
  if (position === undefined) throw fault("sectionFull");
  return position;
}
