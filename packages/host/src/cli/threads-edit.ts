import { createInterface } from "node:readline/promises";
import type { BobbinClient } from "@bobbin/client";
import type { ThreadUnloadResponse } from "@bobbin/protocol";
import { CommandFailure } from "./command-failure.ts";
import { onHolder, runOnHost, type ThreadOptions, type ThreadsUse } from "./run-on-host.ts";
import { findThread } from "./thread-lookup.ts";
import { threadTitle } from "./thread-summary-text.ts";

/** `bobbin threads rename`. Resolves with the exit code. */
export function renameThread(given: string, name: string, options: ThreadOptions): Promise<number> {
  return changeThreads([given], options, async ({ client }, threadId) => {
    await client.request("thread/name/set", { threadId, name });
    return { says: `Renamed ${threadId} to ${JSON.stringify(name)}.`, name };
  });
}

/** `bobbin threads archive` and `unarchive`. Resolves with the exit code. */
export function archiveThreads(
  given: readonly string[],
  how: "archive" | "unarchive",
  options: ThreadOptions,
): Promise<number> {
  return changeThreads(given, options, async ({ client }, threadId) => {
    await client.request(`thread/${how}`, { threadId });
    return { says: `${how === "archive" ? "Archived" : "Unarchived"} ${threadId}.` };
  });
}

/** `bobbin threads delete`. Asks first, unless `yes` is set. Resolves with the exit code. */
export function deleteThreads(
  given: readonly string[],
  options: ThreadOptions & { readonly yes?: boolean },
): Promise<number> {
  return changeThreads(given, options, async (host, threadId) => {
    if (options.yes !== true && !(await confirmDelete(host, threadId)))
      return { says: `Kept ${threadId}.`, deleted: false };
    await host.client.request("thread/delete", { threadId });
    return { says: `Deleted ${threadId}.`, deleted: true };
  });
}

async function confirmDelete({ client }: ThreadsUse, threadId: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailure("deleting is for good, and there is no terminal to ask on; add --yes");
  const { thread } = await client.request("thread/read", { threadId });
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(
      `Delete "${threadTitle(thread, 60)}" with its history, for good? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

/** `bobbin threads unload`. Exits with 1 if the thread stays loaded. Resolves with the exit code. */
export function unloadThreads(
  given: readonly string[],
  options: ThreadOptions & { readonly interrupt?: boolean },
): Promise<number> {
  return changeThreads(given, options, async ({ client }, threadId) => {
    const result = await client.request("thread/unload", {
      threadId,
      ...(options.interrupt && { interrupt: true }),
    });
    const failed =
      result.status === "active" || result.status === "otherSubscribers" || result.heldBy != null;
    return { says: unloadWords(threadId, result), failed, ...result };
  });
}

/** The four outcomes of `thread/unload` in words, with what the user can do. */
function unloadWords(threadId: string, { status, blockedBy, heldBy }: ThreadUnloadResponse): string {
  switch (status) {
    case "unloaded":
      return `Unloaded ${threadId}.`;
    case "notLoaded":
      return heldBy == null
        ? `${threadId} was not loaded.`
        : `${threadId} is loaded by another host of this home (${heldBy}): unload it there.`;
    case "otherSubscribers": {
      const count = blockedBy?.otherSubscribers;
      return `${threadId} stays loaded: ${count === undefined ? "another client uses" : `${count} other client${count === 1 ? " uses" : "s use"}`} it. Close it there first.`;
    }
    case "active": {
      const { turnId, pendingRequests = 0, pendingCalls = 0, descendants = 0 } = blockedBy ?? {};
      const why = [
        ...(turnId == null ? [] : ["a turn is running"]),
        ...(pendingRequests > 0
          ? [`${pendingRequests} unanswered question${pendingRequests > 1 ? "s" : ""}`]
          : []),
        ...(pendingCalls > 0 ? [`${pendingCalls} pending tool call${pendingCalls > 1 ? "s" : ""}`] : []),
        ...(descendants > 0 ? [`${descendants} running helper${descendants > 1 ? "s" : ""}`] : []),
      ];
      return `${threadId} stays loaded: ${why.join(", ") || "it is at work"}. Wait for it, or add --interrupt.`;
    }
  }
}

/** `bobbin threads fork`. Prints the id of the new thread on stdout. Resolves with the exit code. */
export function forkThread(
  given: string,
  options: ThreadOptions & { readonly name?: string },
): Promise<number> {
  return runOnHost("threads", options, async ({ client, stdout }) => {
    const source = await findThread(client, given);
    const { thread } = await client.request("thread/fork", { threadId: source, excludeTurns: true });
    const { name } = options;
    if (name !== undefined) await client.request("thread/name/set", { threadId: thread.id, name });
    if (options.json) stdout.line(JSON.stringify({ ...thread, name: name ?? thread.name }, null, 2));
    else stdout.line(thread.id);
    return 0;
  });
}

interface Outcome {
  readonly says: string;
  readonly failed?: boolean;
}

/** Changes threads one after the other, and stops at the first error. With --json prints an array of outcomes. */
function changeThreads(
  given: readonly string[],
  options: ThreadOptions,
  change: (host: ThreadsUse, threadId: string) => Promise<Outcome>,
): Promise<number> {
  return runOnHost("threads", options, async (host) => {
    const ids = await findAll(host.client, given);
    const outcomes: object[] = [];
    let code = 0;
    try {
      for (const threadId of ids) {
        const {
          says,
          failed = false,
          ...facts
        } = await onHolder(host, threadId, (holder) => change(holder, threadId));
        outcomes.push({ threadId, ...facts });
        if (failed) code = 1;
        if (!options.json) (failed ? host.stderr : host.stdout).line(says);
      }
    } finally {
      if (options.json) host.stdout.line(JSON.stringify(outcomes, null, 2));
    }
    return code;
  });
}

/** Finds all threads before the first one is changed, so that a mistyped ID does not leave half of the work done. */
async function findAll(client: BobbinClient, given: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const one of given) ids.push(await findThread(client, one));
  return [...new Set(ids)];
}
