import type { ThreadItem, Turn, UserInput } from "@bobbin/protocol";
import { turnProblem } from "./exec-report.ts";
import { itemEnd, itemStart } from "./item-lines.ts";
import { runOnHost, type ThreadOptions } from "./run-on-host.ts";
import { escapeControls, type Output } from "./terminal-output.ts";
import { findThread } from "./thread-lookup.ts";
import { ago, shortPath, statusWords, threadTitle } from "./thread-summary-text.ts";

export interface ShowOptions extends ThreadOptions {
  /** How many of the last turns are shown. */
  readonly turns: number;
}

/** `bobbin threads show`. Reads the thread without loading it. Resolves with the exit code. */
export function showThread(given: string, options: ShowOptions): Promise<number> {
  return runOnHost("threads", options, async ({ client, stdout }) => {
    const threadId = await findThread(client, given);
    if (options.json) {
      const { thread } = await client.request("thread/read", { threadId, includeTurns: true });
      stdout.line(JSON.stringify(thread, null, 2));
      return 0;
    }
    const { thread } = await client.request("thread/read", { threadId });
    const page =
      options.turns === 0
        ? { data: [], nextCursor: null }
        : await client.request("thread/turns/list", {
            ...{ threadId, limit: options.turns, sortDirection: "desc", itemsView: "full" },
          });
    const now = Date.now() / 1000;
    stdout.line(stdout.bold(threadTitle(thread)));
    const facts: readonly (readonly [string, string])[] = [
      ["id", thread.id],
      ["state", statusWords(thread)],
      ["folder", shortPath(thread.cwd)],
      ["model", escapeControls([thread.model, thread.modelProvider].filter(Boolean).join(" · "))],
      ["created", ago(thread.createdAt, now)],
      ["used", ago(thread.recencyAt ?? thread.updatedAt, now)],
      ...(thread.forkedFromId === null ? [] : [["fork of", thread.forkedFromId] as const]),
    ];
    for (const [name, value] of facts) stdout.line(`  ${stdout.dim(name.padEnd(8))} ${value}`);
    if (page.nextCursor !== null)
      stdout.line(stdout.dim(`\n… earlier turns are not shown (--turns ${options.turns * 5})`));
    for (const turn of [...page.data].reverse()) writeTurn(turn, stdout);
    return 0;
  });
}

function writeTurn(turn: Turn, out: Output): void {
  for (const item of turn.items) {
    const text = transcript(item, out);
    if (text !== undefined) out.line(`\n${text}`);
  }
  if (turn.status === "failed") out.line(out.red(`\n${escapeControls(turnProblem(turn.error))}`));
  if (turn.status === "interrupted") out.line(out.dim("\ninterrupted"));
}

/** An item in the form of a transcript; undefined if it is not shown. */
export function transcript(item: ThreadItem, out: Output): string | undefined {
  if (item.type === "userMessage")
    return out.bold(`> ${escapeControls(inputText(item.content)).replaceAll("\n", "\n> ")}`);
  if (item.type === "agentMessage") return escapeControls(item.text);
  const lines = [itemStart(item), itemEnd(item)].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : out.dim(escapeControls(lines.join("\n")));
}

/** The user's input as text. Pictures and mentions are named. */
export function inputText(content: readonly UserInput[]): string {
  return content
    .map((part) => ("text" in part ? part.text : "name" in part ? `[${part.name}]` : `[${part.type}]`))
    .join("\n");
}
