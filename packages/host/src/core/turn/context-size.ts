import type { FunctionCallOutputBody, UserInput } from "@bobbin/protocol";
import type { ThreadState } from "../state.ts";

/** Where nobody has counted: about so many characters make a token, and about so many tokens a picture. */
const TOKEN_CHARACTERS = 4;
const PICTURE_TOKENS = 1000;

/**
 * `contextTokens` of a state is how much of the model's window the conversation takes: what the model last reported,
 * and an estimate of what has come since.
 */
export function withContextTokens(state: ThreadState, contextTokens: number): ThreadState {
  return state.contextTokens === contextTokens ? state : { ...state, contextTokens };
}

/** The state with something more in the conversation. */
export function withMoreContext(state: ThreadState, added: FunctionCallOutputBody): ThreadState {
  return withContextTokens(state, state.contextTokens + outputTokens(added));
}

/** The state with a message of the user more. */
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
