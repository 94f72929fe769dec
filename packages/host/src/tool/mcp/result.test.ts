import type { FunctionCallOutputContentItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { McpBlock, McpCallResult } from "./mcp-interface.ts";
import { shownResult } from "./result-for-clients.ts";
import { modelOutput, partsForFiles } from "./result-for-model.ts";
import { readResult } from "./result-parts.ts";

const KI = 1024;
const result = (content: readonly McpBlock[], more: Partial<McpCallResult> = {}): McpCallResult => ({
  content,
  structuredContent: null,
  isError: false,
  meta: null,
  ...more,
});
const text = (words: string): McpBlock => ({ type: "text", text: words });
const base64 = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64");

function read(content: readonly McpBlock[], more: Partial<McpCallResult> = {}) {
  const parts = readResult(result(content, more));
  return { ...parts, output: modelOutput(parts), shown: shownResult(parts), kept: partsForFiles(parts) };
}

describe("a result of an MCP server", () => {
  it("[MCPCALL-3] is given to the model as text, pictures and sounds, and to clients as it was", () => {
    const data = base64(30);
    const content = [
      { ...text("Here:"), annotations: { priority: 1 } },
      { type: "image", data, mimeType: "image/png" },
      { type: "audio", data, mimeType: "audio/wav" },
      { type: "resource_link", uri: "demo://a", name: "a" },
      { type: "resource", resource: { uri: "demo://b", mimeType: "text/plain", text: "B" } },
    ];
    const { output, shown, success } = read(content, { meta: { a: 1 } });
    expect(success).toBe(true);
    expect(output).toEqual([
      { type: "input_text", text: "Here:" },
      { type: "input_image", image_url: `data:image/png;base64,${data}` },
      { type: "input_audio", audio_url: `data:audio/wav;base64,${data}` },
      { type: "input_text", text: '{"type":"resource_link","uri":"demo://a","name":"a"}' },
      { type: "input_text", text: "Resource demo://b:\nB" },
    ]);
    expect(shown).toEqual({ content, structuredContent: null, _meta: { a: 1 } });
  });

  it("[MCPCALL-3] has its structured content in place of the text that repeats it", () => {
    const structuredContent = { temperature: 36, conditions: "rain" };
    const same = text(JSON.stringify({ conditions: "rain", temperature: 36 }));
    expect(read([same], { structuredContent }).output).toBe('{"temperature":36,"conditions":"rain"}');
    expect(read([text("It rains."), same], { structuredContent }).output).toEqual([
      { type: "input_text", text: "It rains." },
      { type: "input_text", text: '{"temperature":36,"conditions":"rain"}' },
    ]);
    expect(read([same], { structuredContent }).shown).toEqual({
      content: [same],
      structuredContent,
      _meta: null,
    });
  });

  it("[MCPCALL-3] has a text once that is the only member of its structured content", () => {
    const structuredContent = { content: "a file" };
    expect(read([text("a file")], { structuredContent }).output).toBe('{"content":"a file"}');
    expect(read([text("a file")], { structuredContent: { content: "a file", size: 6 } }).output).toHaveLength(
      2,
    );
  });

  it("[MCPCALL-3] has media once that its structured content repeats", () => {
    const image = { type: "image", data: base64(3000), mimeType: "image/png" };
    const { output, shown, kept } = read([text("Here:"), image], { structuredContent: { content: [image] } });
    const note = { ...image, data: "(the data of content[1])" };
    expect(output).toEqual([
      { type: "input_text", text: "Here:" },
      { type: "input_image", image_url: `data:image/png;base64,${image.data}` },
      { type: "input_text", text: JSON.stringify({ content: [note] }) },
    ]);
    expect(shown).toMatchObject({ content: [text("Here:"), image], structuredContent: { content: [note] } });
    expect(kept).toEqual([]);
  });

  it("[MCPCALL-3] that says nothing is said to be so", () => {
    expect(read([]).output).toMatch(/without any content/);
    const failed = read([], { isError: true });
    expect(failed.success).toBe(false);
    expect(failed.output).toMatch(/did not say why/);
  });

  it("[MCPCALL-3] is cut for the model where it is too long, and says where all of it is", () => {
    const long = `${"a".repeat(100 * KI)}END`;
    const parts = readResult(result([text("short"), text(long)]));
    expect(partsForFiles(parts)).toEqual([{ at: 1, extension: "txt", content: long }]);
    const [first, second] = modelOutput(parts, (at) =>
      at === 1 ? "/blobs/c.txt" : undefined,
    ) as FunctionCallOutputContentItem[];
    expect(first).toEqual({ type: "input_text", text: "short" });
    const { text: words } = second as { text: string };
    expect(words.length).toBeLessThan(65 * KI);
    expect(words).toMatch(/left out; all of it is in \/blobs\/c\.txt\) …\na+END$/s);
    // Clients get more of it.
    expect(shownResult(parts).content[1]).toEqual(text(long));
  });

  it("[MCPCALL-3] keeps bytes that no model reads in a file", () => {
    const blob = base64(300);
    const resource = { uri: "demo://z", mimeType: "application/gzip", blob };
    const { output, shown, kept } = read([{ type: "resource", resource }]);
    expect(kept).toEqual([{ at: 0, extension: "bin", content: Buffer.alloc(300, 7) }]);
    expect(output).toEqual([
      { type: "input_text", text: "Resource demo://z: 300 bytes of application/gzip" },
    ]);
    expect(shown.content).toEqual([{ type: "resource", resource }]);
  });

  it.each([
    ["many parts", Array.from({ length: 100_000 }, (_, at) => text(String(at)))],
    ["long texts", Array.from({ length: 50 }, () => text("x".repeat(1000 * KI)))],
    ["a long unknown block", [{ type: "novel", chapter: "x".repeat(9000 * KI) }]],
    ["long members", [{ ...text("a"), annotations: "x".repeat(9000 * KI) }]],
    ["a long resource", [{ type: "resource", resource: { uri: "a:b", text: "x".repeat(9000 * KI) } }]],
    [
      "a resource with long members",
      [{ type: "resource", resource: { uri: "a:b", x: "x".repeat(900 * KI), text: "a" } }],
    ],
  ])("[MCPCALL-4] is bounded, whatever a server sends: %s", (_, content) => {
    const { output, shown } = read(content);
    expect(JSON.stringify(output).length).toBeLessThan(80 * KI);
    expect(JSON.stringify(shown).length).toBeLessThan(300 * KI);
  });

  it("[MCPCALL-4] is bounded in its structured content, its meta and its media", () => {
    const structuredContent = { x: "x".repeat(900 * KI) };
    const { output, shown } = read([], { structuredContent, meta: { y: "y".repeat(99 * KI) } });
    expect(JSON.stringify(output).length).toBeLessThan(80 * KI);
    expect(JSON.stringify(shown).length).toBeLessThan(300 * KI);
    expect(shown).toMatchObject({ structuredContent: null, _meta: null });
    const image = { type: "image", data: base64(7 * KI * KI), mimeType: "image/png" };
    const pictures = read([image, image, image]);
    expect(pictures.shown.content.slice(0, 2)).toEqual([image, image]);
    expect(pictures.shown.content[2]).toEqual(
      text("(an image left out: the result has more than 16777216 bytes)"),
    );
  });

  it("[MCPCALL-4] has words in place of data that is none", () => {
    for (const data of ["kept:abc", "a b=", "abc", 7, undefined])
      expect(read([{ type: "image", data, mimeType: "image/png" }]).output).toEqual([
        { type: "input_text", text: "(an image left out: its data is not base64)" },
      ]);
    const type = read([{ type: "image", data: base64(3), mimeType: 'x"; drop' }]).output;
    expect(type).toEqual([{ type: "input_image", image_url: `data:image/png;base64,${base64(3)}` }]);
  });
});
