import type { ContentItem, DisplaySegment, ToolResult } from "@bobbin/rap/wire";
import { describe, expect, it } from "vitest";
import { reportOf } from "./call-result-conversion.ts";

const KI = 1024;
const result = (more: Partial<ToolResult>): ToolResult => ({
  type: "tool_result",
  group_id: "t",
  id: "c",
  call_id: null,
  subscription: false,
  ...more,
});
const texts = (...lengths: readonly number[]): ContentItem[] =>
  lengths.map((length) => ({ type: "text", text: "x".repeat(length) }));

describe("a result that is too long", () => {
  it("[RAPR-73] loses as much as it has to in all, of its longest texts", () => {
    const content = [
      ...texts(10, 300 * KI),
      { type: "image", data: "AAAA", mediaType: "image/png" } as const,
    ];
    const { output, shown } = reportOf(result({ content: [...content, ...texts(100 * KI, 500 * KI)] }));
    const lengths = (output as { text?: string }[]).map(({ text }) => text?.length ?? 0);
    expect(lengths[0]).toBe(10);
    expect(lengths[2]).toBe(0);
    expect([lengths[1]! >> 11, lengths[3]! >> 11, lengths[4]! >> 11]).toEqual([42, 42, 42]);
    expect(JSON.stringify(shown).length).toBeLessThan(257 * KI);
    const many = reportOf(result({ content: texts(...Array.from({ length: 256 }, () => 100 * KI)) }));
    expect(JSON.stringify(many).length).toBeLessThan(600 * KI);
  });

  it("stays whole up to its bound", () => {
    const content = texts(128 * KI, 127 * KI, KI);
    expect(reportOf(result({ content })).output).toEqual(
      content.map((item) => ({ type: "input_text", text: (item as { text: string }).text })),
    );
  });

  it.each<DisplaySegment>([
    { type: "text", content: "x".repeat(1000 * KI) },
    { type: "diff", content: { path: "a.txt", patch: "x".repeat(1000 * KI) } },
  ])("is shown to people no longer than to the model ($type)", (segment) => {
    const { shown } = reportOf(result({ text: "done", display_as: [segment] }));
    expect(shown).toMatchObject({ _meta: { display_as: { type: segment.type } } });
    expect(JSON.stringify(shown).length).toBeLessThan(514 * KI);
  });

  it("has a picture that is shown once", () => {
    const content = { data: "A".repeat(1000 * KI), mediaType: "image/png" };
    const { shown } = reportOf(result({ text: "done", display_as: [{ type: "image", content }] }));
    expect(shown._meta).toEqual({ display_as: { type: "image", content: { mediaType: "image/png" } } });
    expect(shown.content).toEqual([{ type: "image", data: content.data, mimeType: "image/png" }]);
  });
});
