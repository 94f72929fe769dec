import { describe, expect, it } from "vitest";
import { decodeEntities } from "./entities.ts";
import { safeLink, safePicture } from "./safe-link.ts";

describe("links in messages", () => {
  it.each([
    ["https://example.org/a?b#c", "https://example.org/a?b#c"],
    [" http://example.org ", "http://example.org/"],
    ["mailto:ada@example.org", "mailto:ada@example.org"],
    ["javascript:alert(1)", undefined],
    ["JavaScript:alert(1)", undefined],
    ["java\nscript:alert(1)", undefined],
    ["\u0001javascript:alert(1)", undefined],
    ["data:text/html,<script>alert(1)</script>", undefined],
    ["vbscript:x", undefined],
    ["file:///etc/passwd", undefined],
    ["blob:http://localhost/1", undefined],
    ["/relative", undefined],
    ["#token=x", undefined],
    ["//example.org", undefined],
    ["", undefined],
  ])("%j", (href, shown) => {
    expect(safeLink(href)).toBe(shown);
  });

  it("show only pictures that are in the message", () => {
    const png = "data:image/png;base64,iVBORw0KGgo=";
    expect(safePicture(png)).toBe(png);
    for (const src of [
      "https://example.org/a.png",
      "data:image/svg+xml;base64,PHN2Zz4=",
      "data:text/html;base64,AAAA",
      'data:image/png;base64,AA" onerror="x',
    ])
      expect(safePicture(src)).toBeUndefined();
  });

  it("decode entities once, to text", () => {
    expect(decodeEntities("a &lt;b&gt; &amp;lt; &#x41;&#66; &nope; &#0; &#xD800;")).toBe(
      "a <b> &lt; AB &nope; \ufffd \ufffd",
    );
  });
});
