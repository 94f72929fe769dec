import type { CompactEffect } from "../core/next.ts";
import type { ThreadRecord } from "../core/records.ts";
import { textTokens } from "../core/turn/context-size.ts";
import type { Compacting } from "../core/turn/records.ts";
import type { ContextItem, ContextMessage } from "../model/model.ts";
import { outputText, textOf } from "../model/plain-context.ts";
import { message } from "./context.ts";

/** What a model is asked that has to make a conversation shorter. */
export const SUMMARY_PROMPT = [
  "Stop here and write a summary of this conversation. It takes the place of the conversation: whoever goes on with the work, you or another model, is shown the summary and the last messages of the user, and nothing else.",
  "Say what the user wants, with every rule and wish that they stated; what was done and decided, and why; what was found out, with names, paths, commands, values and errors word for word where they matter; and what is left to do, with the next step first.",
  "Leave out what no longer matters. Answer with the summary alone, and call no tools.",
].join("\n");

/** The records that a compaction stands for. */
export function coveredBy(
  past: readonly ThreadRecord[],
  { turnId, attempt, covers }: { turnId: string; attempt: number; covers: Compacting["covers"] },
): readonly ThreadRecord[] {
  const end = past.findIndex((record) =>
    covers === "past"
      ? "turnId" in record && record.turnId === turnId
      : record.type === "compactionRequested" && record.turnId === turnId && record.attempt === attempt,
  );
  return end < 0 ? past : past.slice(0, end);
}

/** There is something that a summary can be made of. */
export function saysAnything(covered: readonly ThreadRecord[]): boolean {
  return covered.some(
    ({ type }) => type === "itemCompleted" || type === "itemsInjected" || type === "compacted",
  );
}

/**
 * The conversation in plain words, because wires differ in what they take of calls without the tools: who said
 * what, and what tools were asked and answered. `lighter`: how often half of it is left out, the oldest first.
 */
export function inPlainWords(
  said: readonly ContextItem[],
  { lighter }: Pick<CompactEffect["compacting"], "lighter">,
): readonly ContextMessage[] {
  const names = new Map<string, string>();
  const plain = said.flatMap((item): ContextMessage[] => {
    switch (item.type) {
      case "message":
        return [words(item.role, spoken(item))];
      case "toolCall":
        names.set(item.callId, item.name);
        return [words("assistant", `(I called the tool ${item.name} with: ${item.arguments})`)];
      case "toolOutput":
        return [
          words("user", `(The tool ${names.get(item.callId) ?? ""} answered: ${outputText(item.output)})`),
        ];
      default:
        return [];
    }
  });
  return lighter === 0 ? plain : lightened(plain, lighter);
}

function lightened(plain: readonly ContextMessage[], lighter: number): readonly ContextMessage[] {
  const total = plain.reduce((sum, one) => sum + textOf(one).length, 0);
  let left = Math.floor(total / 2 ** lighter);
  const newestFirst: ContextMessage[] = [];
  for (const one of plain.toReversed()) {
    if (left <= 0) break;
    const text = textOf(one);
    newestFirst.push(text.length <= left ? one : words(one.role, `[…] ${text.slice(-left)}`));
    left -= text.length;
  }
  return [
    words("user", "(The beginning of the conversation is too long to be shown here.)"),
    ...newestFirst.reverse(),
  ];
}

function spoken({ parts }: ContextMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}

function words(role: ContextMessage["role"], text: string): ContextMessage {
  return message(role, text) as ContextMessage;
}

/** How much of a model's window they take, about. */
export function tokensOf(items: readonly ContextItem[]): number {
  return textTokens(JSON.stringify(items).length);
}
