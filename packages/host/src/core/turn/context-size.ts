import type { FunctionCallOutputBody, UserInput } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** Where nobody has counted: about so many characters make a token, and about so many tokens a picture. */
const TOKEN_CHARACTERS = 4;
const PICTURE_TOKENS = 1000;

/** How much of the model's window the conversation takes: what the model last said, and what has come since. */
export function contextTokensAfter({ contextTokens, turn }: ThreadState, record: ThreadRecord): number {
  switch (record.type) {
    case "usageReported":
      // A reviewer is not shown the conversation.
      return turn?.kind === "review" ? contextTokens : record.usage.last.totalTokens;
    case "compacted":
      return record.usage.last.totalTokens;
    case "turnsDropped":
      // Less than before, and nobody knows how much less; the next answer tells.
      return 0;
    case "itemCompleted":
      return record.item.type === "userMessage"
        ? contextTokens + inputTokens(record.item.content)
        : contextTokens;
    case "eventInjected":
      return contextTokens + outputTokens(record.event.output);
    case "toolAnswered":
      return contextTokens + outputTokens(record.output);
    case "contextGiven":
      return contextTokens + textTokens(record.entries.reduce((size, { value }) => size + value.length, 0));
    case "itemsInjected":
      return contextTokens + textTokens(JSON.stringify(record.items).length);
    default:
      return contextTokens;
  }
}

export function textTokens(characters: number): number {
  return Math.ceil(characters / TOKEN_CHARACTERS);
}

export function textCharacters(tokens: number): number {
  return tokens * TOKEN_CHARACTERS;
}

function inputTokens(content: readonly UserInput[]): number {
  return sum(content.map((part) => (part.type === "text" ? textTokens(part.text.length) : PICTURE_TOKENS)));
}

function outputTokens(output: FunctionCallOutputBody): number {
  if (typeof output === "string") return textTokens(output.length);
  return sum(
    output.map((part) => (part.type === "input_text" ? textTokens(part.text.length) : PICTURE_TOKENS)),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
