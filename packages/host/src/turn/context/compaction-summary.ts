import type { CompactEffect } from "../../core/next.ts";
import type { ThreadRecord } from "../../core/records.ts";
import { textTokens } from "../../core/turn/context-size.ts";
import type { Compacting } from "../../core/turn/records.ts";
import { outputText, textOf } from "../../model/context-conversion.ts";
import type { ContextItem, ContextMessage } from "../../model/model.ts";
import { message } from "./conversation.ts";

/** The default prompt that asks a model for the summary of a compaction. */
export const SUMMARY_PROMPT = [
  "Stop here and write a summary of this conversation. It takes the place of the conversation: whoever goes on with the work, you or another model, is shown the summary and the last messages of the user, and nothing else.",
  "Say what the user wants, with every rule and wish that they stated; what was done and decided, and why; what was found out, with names, paths, commands, values and errors word for word where they matter; and what is left to do, with the next step first.",
  "Leave out what no longer matters. Answer with the summary alone, and call no tools.",
].join("\n");

/** The records that a compaction replaces. */
export function coveredBy(
  history: readonly ThreadRecord[],
  { turnId, attempt, covers }: { turnId: string; attempt: number; covers: Compacting["covers"] },
): readonly ThreadRecord[] {
  const end = history.findIndex((record) =>
    covers === "past"
      ? "turnId" in record && record.turnId === turnId
      : record.type === "compactionRequested" && record.turnId === turnId && record.attempt === attempt,
  );
  return end < 0 ? history : history.slice(0, end);
}

/** Whether there is anything to summarize. */
export function hasContent(covered: readonly ThreadRecord[]): boolean {
  return covered.some(
    ({ type }) => type === "itemCompleted" || type === "itemsInjected" || type === "compacted",
  );
}

/**
 * The conversation with tool calls and outputs as text, because some providers refuse tool calls in a request without
 * tools. `lighter`: how often the text is halved by leaving out its oldest part.
 */
export function asPlainMessages(
  items: readonly ContextItem[],
  { lighter }: Pick<CompactEffect["compacting"], "lighter">,
): readonly ContextMessage[] {
  const names = new Map<string, string>();
  const plain = items.flatMap((item): ContextMessage[] => {
    switch (item.type) {
      case "message":
        return [textMessage(item.role, messageText(item))];
      case "toolCall":
        names.set(item.callId, item.name);
        return [textMessage("assistant", `(I called the tool ${item.name} with: ${item.arguments})`)];
      case "toolOutput":
        return [
          textMessage(
            "user",
            `(The tool ${names.get(item.callId) ?? ""} answered: ${outputText(item.output)})`,
          ),
        ];
      default:
        return [];
    }
  });
  return lighter === 0 ? plain : withoutOldest(plain, lighter);
}

function withoutOldest(plain: readonly ContextMessage[], lighter: number): readonly ContextMessage[] {
  const total = plain.reduce((sum, one) => sum + textOf(one).length, 0);
  let left = Math.floor(total / 2 ** lighter);
  const newestFirst: ContextMessage[] = [];
  for (const one of plain.toReversed()) {
    if (left <= 0) break;
    const text = textOf(one);
    newestFirst.push(text.length <= left ? one : textMessage(one.role, `[…] ${text.slice(-left)}`));
    left -= text.length;
  }
  return [
    textMessage("user", "(The beginning of the conversation is too long to be shown here.)"),
    ...newestFirst.reverse(),
  ];
}

function messageText({ parts }: ContextMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}

function textMessage(role: ContextMessage["role"], text: string): ContextMessage {
  return message(role, text) as ContextMessage;
}

/** An estimate of the tokens of items. */
export function tokensOf(items: readonly ContextItem[]): number {
  return textTokens(JSON.stringify(items).length);
}
