import type { ThreadUnloadResponse } from "@bobbin/protocol";
import { counted } from "../parts/quantity-text.ts";
import { go, threadHref } from "../route.ts";
import { loadText } from "./load-reasons.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

/** Copies the thread, and opens the copy. */
export async function fork({ client, session }: ThreadPageData): Promise<void> {
  const thread = await client.forkThread(session.id);
  go(threadHref(thread.id));
}

export async function archive({ client, session }: ThreadPageData): Promise<void> {
  await client.request("thread/archive", { threadId: session.id });
}

export async function unarchive({ client, session }: ThreadPageData): Promise<void> {
  await client.request("thread/unarchive", { threadId: session.id });
}

export async function rename({ client, session }: ThreadPageData, name: string): Promise<void> {
  await client.request("thread/name/set", { threadId: session.id, name });
}

export async function unload({ client, session, note }: ThreadPageData): Promise<void> {
  note.value = unloadText(await client.request("thread/unload", { threadId: session.id }));
}

export async function explainLoad({ client, session, note }: ThreadPageData): Promise<void> {
  const { threads } = await client.request("server/diagnostics", {});
  const found = threads?.find(({ threadId }) => threadId === session.id);
  note.value = found === undefined ? "It is not loaded." : loadText(found);
}

/** Asks whether to undo the last turn and its file changes. */
export function undoLast({ session, dialog }: ThreadPageData): void {
  const turn = session.state.value.turns.at(-1);
  if (turn === undefined) throw new Error("There is no turn to undo.");
  dialog.value = { kind: "revert", turnId: turn.id };
}

/** Summarizes the conversation for the model. */
export async function compact({ client, session }: ThreadPageData): Promise<void> {
  await session.load();
  await client.request("thread/compact/start", { threadId: session.id });
}

/** Starts a review: of the uncommitted changes, or as the instructions say. */
export async function review({ client, session }: ThreadPageData, instructions: string): Promise<void> {
  await session.load();
  await client.request("review/start", {
    threadId: session.id,
    target: instructions === "" ? { type: "uncommittedChanges" } : { type: "custom", instructions },
  });
}

/** Sets the model for the following turns. */
export async function setModel({ client, session, note }: ThreadPageData, model: string): Promise<void> {
  if (model === "") {
    const { data } = await client.request("model/list", {});
    throw new Error(`Name a model, for example: ${data.map(({ id }) => id).join(", ")}.`);
  }
  await session.load();
  await client.request("thread/settings/update", { threadId: session.id, model });
  note.value = `The next turns use the model ${model}.`;
}

/** Explains the four possible replies to an unload. */
function unloadText({ status, blockedBy, heldBy }: ThreadUnloadResponse): string {
  switch (status) {
    case "unloaded":
      return "Unloaded: its tools and processes ended. The conversation is kept, and the next message loads it again.";
    case "notLoaded":
      return heldBy
        ? `Not loaded here: another host on this home has it (${heldBy}).`
        : "It was not loaded: there was nothing to end.";
    case "otherSubscribers":
      return `Still loaded: ${counted(blockedBy?.otherSubscribers ?? 1, "other client follows", "other clients follow")} it.`;
    case "active":
      return `Still loaded: ${activityText(blockedBy ?? {})}. Interrupt it first.`;
  }
}

function activityText(blockers: NonNullable<ThreadUnloadResponse["blockedBy"]>): string {
  const found = [
    blockers.turnId ? "a turn runs" : "",
    blockers.pendingRequests ? counted(blockers.pendingRequests, "question waits", "questions wait") : "",
    blockers.pendingCalls ? counted(blockers.pendingCalls, "tool call runs", "tool calls run") : "",
    blockers.descendants ? counted(blockers.descendants, "helper works", "helpers work") : "",
  ].filter((text) => text !== "");
  return found.length === 0 ? "it is active" : found.join(", ");
}
