import { Fault, fault } from "../../errors.ts";
import type { ThreadIndex } from "../../journal/index/thread-index.ts";
import { positionBetween } from "../../journal/sections.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import { ownerOf } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import { accessOf, type HandlerContext, seenOwner } from "./context.ts";
import { refuseEphemeral } from "./lasting-thread.ts";
import { relatedId } from "./related-id.ts";

export function sectionHandlers({ sections, index, registry, platform }: HandlerContext): Handlers {
  return {
    async "threadSection/list"(params, { connection, reply }) {
      reply(await sections.list(seenOwner(connection), params));
    },
    async "threadSection/create"(params, { connection, reply }) {
      reply(await sections.create(ownerOf(connection.meta.principal), params));
    },
    async "threadSection/update"(params, { connection, reply }) {
      reply(await sections.update(seenOwner(connection), params));
    },
    async "threadSection/delete"(params, { connection, reply }) {
      reply(await sections.delete(seenOwner(connection), params));
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
      if (before !== null && relatedId("before", before) === parseThreadId(threadId))
        throw fault("beforeItself", before);
      const position = sectionId === null ? null : await positionIn(index, owner, sectionId, before);
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

/** A number between the thread before which it goes and the one before that; the last of all without one. */
async function positionIn(
  index: ThreadIndex,
  owner: string | undefined,
  sectionId: string,
  beforeThreadId: string | null,
): Promise<number> {
  let left: number | undefined;
  let cursor: string | undefined;
  do {
    const page = await index.list({ ...EVERYTHING, owner, sectionId, cursor });
    for (const row of page.rows) {
      const position = row.sectionPosition ?? 0;
      if (row.id === beforeThreadId) return roomBetween(left, position);
      left = position;
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  if (beforeThreadId !== null) throw fault("notInSection", beforeThreadId, sectionId);
  return roomBetween(left, undefined);
}

function roomBetween(left: number | undefined, right: number | undefined): number {
  const position = positionBetween(left, right);
  if (position === undefined) throw fault("sectionFull");
  return position;
}

const EVERYTHING = {
  archived: false,
  modelProviders: undefined,
  sourceKinds: undefined,
  cwds: undefined,
  searchTerm: undefined,
  parentThreadId: undefined,
  ancestorThreadId: undefined,
  sortKey: "section_position",
  sortDirection: "asc",
  limit: 100,
} as const;
