import type { ThreadSection } from "@bobbin/protocol";
import type { ThreadList } from "./thread-list.ts";

export async function createSection(list: ThreadList, name: string): Promise<ThreadSection> {
  return (await list.client.request("threadSection/create", { name })).section;
}

export async function renameSection(list: ThreadList, sectionId: string, name: string): Promise<void> {
  await list.client.request("threadSection/update", { sectionId, name });
}

/** Deletes a section. Its threads are then in no section. */
export async function deleteSection(list: ThreadList, sectionId: string): Promise<void> {
  await list.client.request("threadSection/delete", { sectionId });
}

/** Moves a thread to the end of a section, or out of its section. */
export async function moveThread(
  list: ThreadList,
  threadId: string,
  section: ThreadSection | null,
): Promise<void> {
  await list.client.request("thread/section/move", { threadId, sectionId: section?.id ?? null });
}

/** Moves a thread up or down by one place within its section. Does nothing at the end. */
export async function moveWithinSection(
  list: ThreadList,
  threadId: string,
  way: "up" | "down",
): Promise<void> {
  const { sections } = list;
  const found = sections.placeOf(threadId);
  if (found === undefined) return;
  const sectionId = found.group.section.id;
  // A thread is moved before another one. To move it down by one place, the thread two places below must have been read.
  if (way === "down" && found.at + 2 >= found.group.rows.length) await sections.more(sectionId);
  const place = sections.placeOf(threadId);
  if (place === undefined) return;
  const { group, at } = place;
  const isAtEnd = way === "up" ? at === 0 : at === group.rows.length - 1;
  if (isAtEnd) return;
  const before = group.rows[way === "up" ? at - 1 : at + 2]?.thread.id;
  sections.reorder(threadId, before);
  try {
    await list.client.request("thread/section/move", {
      threadId,
      sectionId,
      ...(before !== undefined && { beforeThreadId: before }),
    });
  } catch (cause) {
    await list.reloadSections();
    throw cause;
  }
}
