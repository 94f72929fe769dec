import type { ThreadItem } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { isTextOf, textKey, withTexts } from "./item-texts.ts";

const item = (type: ThreadItem["type"], more: object = {}): ThreadItem =>
  ({ type, id: "i", ...more }) as unknown as ThreadItem;
const known = (texts: Readonly<Record<string, string>>) => (key: string) => texts[key];

it("fills in the text of a running item, and keeps the one that it has if none is known", () => {
  expect(withTexts(item("agentMessage", { text: "" }), known({ i: "so far" }))).toMatchObject({
    text: "so far",
  });
  expect(withTexts(item("plan", { text: "old" }), known({}))).toMatchObject({ text: "old" });
  const command = item("commandExecution", { aggregatedOutput: null });
  expect(withTexts(command, known({ i: "" }))).toMatchObject({ aggregatedOutput: "" });
  expect(withTexts(command, known({}))).toMatchObject({ aggregatedOutput: null });
  const other = item("webSearch");
  expect(withTexts(other, known({ i: "text" }))).toBe(other);
});

it("fills in the parts of reasoning in their order, up to the first that is missing", () => {
  const texts = known({ "i summary 0": "a", "i summary 1": "b", "i summary 3": "d", "i content 0": "c" });
  expect(withTexts(item("reasoning"), texts)).toMatchObject({ summary: ["a", "b"], content: ["c"] });
  expect(withTexts(item("reasoning"), known({}))).toMatchObject({ summary: [], content: [] });
});

it("tells the texts of one item from those of another whose id begins alike", () => {
  expect(textKey("i")).toBe("i");
  for (const key of [textKey("i"), textKey("i", "summary 0")]) expect(isTextOf(key, "i")).toBe(true);
  for (const key of ["i2", "i2 summary 0", "j"]) expect(isTextOf(key, "i")).toBe(false);
});
