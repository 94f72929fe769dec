import { type Bobbin, currentItem, type FollowedThread } from "@bobbin/client";
import type { Access } from "./exec-access-options.ts";
import type { TextReport } from "./exec-text-report.ts";
import { resumedSettings, type TurnSettings } from "./resumed-thread-settings.ts";
import type { Output } from "./terminal-output.ts";
import { findThread, lastThread, type Requests } from "./thread-lookup.ts";
import { inputText, transcript } from "./threads-show.ts";

/** How many earlier turns are shown when a thread is resumed. */
const EARLIER_TURNS = 3;
/** Number of earlier turns whose messages the arrow keys bring back. */
const HISTORY_TURNS = 100;

/** What the user asked for: a new thread, or one to continue. */
export interface RequestedThread {
  readonly cwd: string;
  readonly addedRoots: readonly string[];
  readonly access: Access;
  readonly model: string | undefined;
  /** The thread to continue; true for the one that was used last in this folder. */
  readonly resume: string | true | undefined;
  /** The folder that a resumed thread works in from now on; undefined to keep its folder. */
  readonly movesTo: string | undefined;
}

export interface ChatThread {
  readonly thread: FollowedThread;
  readonly model: string;
  readonly cwd: string;
  /** Further params of the first turn. */
  readonly settings: TurnSettings;
}

/** Finds the thread that is resumed; undefined if a new one is started. */
export function resumedThread({
  resume,
  cwd,
}: RequestedThread): ((client: Requests) => Promise<string>) | undefined {
  if (resume === undefined) return undefined;
  return (client) => (resume === true ? lastThread(client, cwd) : findThread(client, resume));
}

/** Starts the thread, or loads the one that is resumed. */
export async function loadThread(bobbin: Bobbin, requested: RequestedThread): Promise<ChatThread> {
  const { cwd, addedRoots, access, model, movesTo } = requested;
  const find = resumedThread(requested);
  if (find === undefined) {
    const thread = await bobbin.startThread({
      ...{ cwd, ...access },
      // Not sent as `model`, because in the configuration a model may imply its provider.
      ...(model !== undefined && { config: { model } }),
      ...(addedRoots.length > 0 && { runtimeWorkspaceRoots: [cwd, ...addedRoots] }),
    });
    const loaded = thread.state.settings!;
    return { thread, model: loaded.model, cwd: loaded.cwd, settings: {} };
  }
  const thread = await bobbin.resumeThread(await find(bobbin), {}, { recentTurns: HISTORY_TURNS });
  const loaded = thread.state.settings!;
  return {
    thread,
    model: model ?? loaded.model,
    cwd: movesTo ?? loaded.cwd,
    settings: resumedSettings({ access, model, cwd: movesTo, folder: loaded.cwd, addedRoots }),
  };
}

/** Shows the last turns. */
export function showEarlier({ state }: FollowedThread, stdout: Output): void {
  for (const { items } of state.turns.slice(-EARLIER_TURNS))
    for (const item of items) {
      // `showRunning` shows messages that are being streamed.
      if (item.type === "agentMessage" && state.running.has(item.id)) continue;
      const text = transcript(item, stdout);
      if (text !== undefined) stdout.line(`${text}\n`);
    }
}

/** Shows the text so far of messages that are being streamed. The report appends later deltas. */
export function showRunning({ state }: FollowedThread, report: TextReport): void {
  for (const item of state.turns.at(-1)?.items ?? []) {
    const current = currentItem(state, item);
    if (current.type === "agentMessage" && state.running.has(item.id)) report.running(item.id, current.text);
  }
}

/** The messages of the user in a thread, the oldest first. */
export function messagesOf({ state }: FollowedThread): readonly string[] {
  return state.turns.flatMap(({ items }) =>
    items.flatMap((item) => (item.type === "userMessage" ? [inputText(item.content)] : [])),
  );
}
