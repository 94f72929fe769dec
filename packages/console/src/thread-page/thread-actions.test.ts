import type { ThreadUnloadResponse } from "@bobbin/protocol";
import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import { unload } from "./thread-actions.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

/** What the page says after this reply to `thread/unload`. */
async function noteAfter(reply: Partial<ThreadUnloadResponse>): Promise<string | undefined> {
  const note = signal<string | undefined>(undefined);
  const client = { request: async () => reply };
  await unload({ client, session: { id: "t" }, note } as unknown as ThreadPageData);
  return note.value;
}

it.each([
  [{ status: "unloaded" }, "Unloaded: its tools and processes ended. The conversation is kept,"],
  [{ status: "notLoaded" }, "It was not loaded: there was nothing to end."],
  [{ status: "notLoaded", heldBy: "host-2" }, "Not loaded here: another host on this home has it (host-2)."],
  [
    { status: "otherSubscribers", blockedBy: { otherSubscribers: 1 } },
    "Still loaded: 1 other client follows it.",
  ],
  [
    { status: "otherSubscribers", blockedBy: { otherSubscribers: 2 } },
    "Still loaded: 2 other clients follow it.",
  ],
  [{ status: "active" }, "Still loaded: it is active. Interrupt it first."],
  [
    { status: "active", blockedBy: { turnId: "u", pendingRequests: 1, pendingCalls: 2, descendants: 1 } },
    "Still loaded: a turn runs, 1 question waits, 2 tool calls run, 1 helper works. Interrupt it first.",
  ],
] as const)("[CONSOLE-10] explains the answer to an unload: %j", async (reply, text) => {
  expect(await noteAfter(reply as Partial<ThreadUnloadResponse>)).toContain(text);
});
