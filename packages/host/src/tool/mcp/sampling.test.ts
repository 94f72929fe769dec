import { describe, expect, it } from "vitest";
import { readSampling, samplingQuestion, samplingResult } from "./sampling.ts";

const text = (words: string) => ({ role: "user", content: { type: "text", text: words } });

describe("what an MCP server wants of the model", () => {
  it("[MCPCALL-26] is read as messages, with pictures, and in one block or several", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const read = readSampling({
      systemPrompt: "Be brief.",
      messages: [text("Hi"), { role: "assistant", content: [{ type: "text", text: "Hello" }, image] }],
      maxTokens: 100,
    });
    expect(read).toEqual({
      instructions: "Be brief.",
      messages: [
        { role: "user", parts: [{ type: "text", text: "Hi" }] },
        {
          role: "assistant",
          parts: [
            { type: "text", text: "Hello" },
            { type: "image", url: "data:image/png;base64,AAAA" },
          ],
        },
      ],
      maxCharacters: 400,
    });
  });

  it("[MCPCALL-26] is refused if it is too much, or is none", () => {
    const refused = (params: Record<string, unknown>) =>
      expect(() => readSampling(params), JSON.stringify(params).slice(0, 80));
    refused({ messages: [] }).toThrow(/1 to 64/);
    refused({ messages: Array.from({ length: 65 }, () => text("x")) }).toThrow(/1 to 64/);
    refused({ messages: [text("x".repeat(300_000))] }).toThrow(/more than 262144 characters/);
    refused({ messages: [{ role: "system", content: [] }] }).toThrow(/user or assistant/);
    refused({ messages: [{ role: "user", content: { type: "video" } }] }).toThrow(/text, an image or audio/);
    refused({ messages: [text("x")], tools: [] }).toThrow(/tools are not supported/);
    for (const maxTokens of [1e9, -1, "many", undefined])
      expect(readSampling({ messages: [text("x")], maxTokens }).maxCharacters).toBe(65_536);
  });

  it("[MCPCALL-26] is asked about in its own words, as far as they are short", () => {
    const { message } = samplingQuestion("own", readSampling({ messages: [text("x".repeat(100_000))] })) as {
      message: string;
    };
    expect(message.length).toBeLessThan(1200);
    expect(message).toMatch(/^Allow the MCP server own to ask this thread's model\?\n\nx+/);
  });

  it("[MCPCALL-26] is answered with no more than it asked for", () => {
    const request = readSampling({ messages: [text("x")], maxTokens: 1 });
    expect(samplingResult(request, { text: "abcdefgh", model: "m" })).toEqual({
      role: "assistant",
      content: { type: "text", text: "abcd" },
      model: "m",
      stopReason: "maxTokens",
    });
    expect(samplingResult(request, { text: "abc", model: "m" })).toMatchObject({ stopReason: "endTurn" });
  });
});
