import { expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import {
  textCharacters,
  textTokens,
  withContextTokens,
  withMoreContext,
  withUserMessage,
} from "./context-size.ts";
import { addUsage, NO_TOKENS, withSpent } from "./usage.ts";

const state = { ...newThread(), contextTokens: 100 };
const text = (characters: number) => "x".repeat(characters);

it("takes four characters for a token, and a part for a whole", () => {
  expect([0, 1, 4, 5, 8].map(textTokens)).toEqual([0, 1, 1, 2, 2]);
  expect([0, 1, 5].map(textCharacters)).toEqual([0, 4, 20]);
});

it("adds texts and pictures of tools and of users", () => {
  expect(withMoreContext(state, text(9)).contextTokens).toBe(103);
  const parts = [
    { type: "input_text", text: text(4) },
    { type: "input_image", image_url: "x" },
    { type: "input_text", text: text(5) },
  ] as Parameters<typeof withMoreContext>[1];
  expect(withMoreContext(state, parts).contextTokens).toBe(100 + 1 + 1000 + 2);
  const content = [
    { type: "text", text: text(8), text_elements: [] },
    { type: "image", url: "x" },
  ] as unknown as Parameters<typeof withUserMessage>[1];
  expect(withUserMessage(state, content).contextTokens).toBe(100 + 2 + 1000);
});

it("leaves the state as it is if nothing is added", () => {
  expect(withMoreContext(state, "")).toBe(state);
  expect(withUserMessage(state, [])).toBe(state);
  expect(withContextTokens(state, 100)).toBe(state);
  expect(withContextTokens(state, 99)).toEqual({ ...state, contextTokens: 99 });
});

const usage = (first: number) => ({
  totalTokens: first,
  inputTokens: first + 1,
  cachedInputTokens: first + 2,
  cacheWriteInputTokens: first + 3,
  outputTokens: first + 4,
  reasoningOutputTokens: first + 5,
});

it("adds the tokens of each kind", () => {
  expect(addUsage(undefined, usage(1))).toEqual(usage(1));
  expect(addUsage(usage(10), usage(1))).toEqual({
    totalTokens: 11,
    inputTokens: 13,
    cachedInputTokens: 15,
    cacheWriteInputTokens: 17,
    outputTokens: 19,
    reasoningOutputTokens: 21,
  });
});

it("counts what was spent beside the conversation in the total alone", () => {
  expect(withSpent(null, usage(1))).toEqual({ total: usage(1), last: NO_TOKENS, modelContextWindow: null });
  const before = { total: usage(0), last: usage(3), modelContextWindow: 9 };
  expect(withSpent(before, NO_TOKENS)).toEqual(before);
  expect(withSpent(before, usage(10)).total.totalTokens).toBe(10);
});
