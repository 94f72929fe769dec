import { describe, expect, it } from "vitest";
import { isResponseItem, responseItemProblem } from "./response-item-validation.ts";

const message = (more: object) => ({ type: "message", role: "user", content: [], ...more });

describe("an item of the responses wire", () => {
  it.each([
    [{ foo: 1 }, "missing field `type`"],
    [5, "invalid type: integer `5`, expected internally tagged enum ResponseItem"],
    [null, "invalid type: null, expected internally tagged enum ResponseItem"],
    [[], "missing field `type`"],
    [{ type: "message" }, "missing field `role`"],
    [{ type: "message", role: "user" }, "missing field `content`"],
    [message({ role: 1.5 }), "invalid type: floating point `1.5`, expected a string"],
    [message({ content: "x" }), 'invalid type: string "x", expected a sequence'],
    [message({ content: [{ text: "a" }] }), "missing field `type`"],
    [message({ content: [{ type: "input_text" }] }), "missing field `text`"],
    [
      message({ content: [{ type: "text", text: "a" }] }),
      "unknown variant `text`, expected one of `input_text`, `input_image`, `input_audio`, `output_text`",
    ],
    [
      message({ content: [{ type: "input_image" }] }),
      "data did not match any variant of untagged enum ImageReference",
    ],
    [{ type: "reasoning" }, "missing field `summary`"],
    [{ type: "reasoning", summary: [{ type: "x" }] }, "unknown variant `x`, expected `summary_text`"],
    [{ type: "function_call", name: "f" }, "missing field `arguments`"],
    [
      { type: "function_call", name: "f", arguments: {}, call_id: "c" },
      "invalid type: map, expected a string",
    ],
    [{ type: "function_call_output", call_id: "c" }, "missing field `output`"],
    [
      { type: "function_call_output", call_id: "c", output: 5 },
      "data did not match any variant of untagged enum FunctionCallOutputBody",
    ],
    [{ type: "web_search_call", action: {} }, "missing field `type`"],
    [{ type: "compaction" }, "missing field `encrypted_content`"],
    [{ type: "local_shell_call", status: "completed", action: { type: "exec" } }, "missing field `command`"],
  ])("is refused as %j", (item, problem) => {
    expect(responseItemProblem(item)).toBe(problem);
    expect(isResponseItem(item)).toBe(false);
  });

  it.each([
    message({}),
    message({
      id: "m",
      role: "assistant",
      phase: "commentary",
      content: [{ type: "output_text", text: "a" }],
    }),
    message({
      content: [
        { type: "input_image", image_url: "data:," },
        { type: "input_image", file_id: "f" },
        { type: "input_audio", file_id: "f" },
      ],
    }),
    { type: "reasoning", summary: [], encrypted_content: null },
    { type: "function_call_output", output: [{ type: "input_text", text: "o" }] },
    { type: "custom_tool_call", call_id: "c", name: "n", input: "" },
    { type: "web_search_call", action: { type: "new" } },
  ])("is taken as %j", (item) => {
    expect(responseItemProblem(item)).toBeUndefined();
    expect(isResponseItem(item)).toBe(true);
  });

  it("of an unknown kind is accepted, and not sent to models", () => {
    expect(responseItemProblem({ type: "odd", x: 1 })).toBeUndefined();
    expect(isResponseItem({ type: "odd", x: 1 })).toBe(false);
  });
});
