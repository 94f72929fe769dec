import type { FunctionCallOutputBody, UserInput } from "@bobbin/protocol";
import type { ThreadState } from "../state.ts";

/** Estimates: characters per token, and tokens per image. */
const TOKEN_CHARACTERS = 4;
const PICTURE_TOKENS = 1000;

/**
 * Sets the size of the conversation, in tokens: the size that the model reported last, plus an estimate of later
 * additions.
 */
export function withContextTokens(state: ThreadState, contextTokens: number): ThreadState {
  return state.contextTokens === contextTokens ? state : { ...state, contextTokens };
}

/** Adds the size of a text or a tool output to that of the conversation. */
export function withMoreContext(state: ThreadState, added: FunctionCallOutputBody): ThreadState {
  return withContextTokens(state, state.contextTokens + outputTokens(added));
}

/** Adds the size of a user message to that of the conversation. */
export function withUserMessage(state: ThreadState, content: readonly UserInput[]): ThreadState {
  return withContextTokens(state, state.contextTokens + inputTokens(content));
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
