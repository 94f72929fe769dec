import { describe, expect, it } from "vitest";
import { USUAL_ANSWER_LIMITS } from "../model/answer-limits.ts";
import { readConfig } from "./config.ts";

describe("limits of answers", () => {
  it("are the usual ones unless the configuration has others", () => {
    expect(readConfig({}).answerLimits).toEqual(USUAL_ANSWER_LIMITS);
    const table = {
      model_item_max_bytes: 1,
      model_answer_max_bytes: 2,
      model_answer_max_calls: 3,
      turn_max_calls: 4,
    };
    expect(readConfig(table).answerLimits).toEqual({
      itemBytes: 1,
      answerBytes: 2,
      answerCalls: 3,
      turnCalls: 4,
    });
  });

  it("have bounds of their own", () => {
    expect(() => readConfig({ model_item_max_bytes: 0 })).toThrow(
      "model_item_max_bytes: expected a whole number of at least 1, found 0",
    );
    expect(() => readConfig({ model_answer_max_calls: 10_001 })).toThrow(
      "model_answer_max_calls: expected a whole number of at most 10000, found 10001",
    );
  });
});
