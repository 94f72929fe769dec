import { describe, expect, it } from "vitest";
import { pictureOfFile } from "./picture-of-file.ts";
import { MAX_SHOWN_BYTES, shownPicture } from "./raster-picture.ts";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=1"/>';

describe("the content of a file", () => {
  it.each([
    ["png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"],
    ["jpeg", "\xff\xd8\xff\xe0\0\x10JFIF\0\x01"],
    ["gif", "GIF89a\x01\0\x01\0\x80\0"],
    ["webp", "RIFF\x24\0\0\0WEBPVP8 "],
    ["avif", "\0\0\0\x1cftypavif\0\0\0\0"],
  ])("is shown as %s by its first bytes", (type, content) => {
    expect(pictureOfFile(base64(content))).toBe(`data:image/${type};base64,${base64(content)}`);
  });

  it.each([SVG, `<?xml version="1.0"?>${SVG}`, "<!doctype html>", "BM\x1e\0\0\0", "GIF8<svg>", "", "PNG"])(
    "is not shown if it is no picture of a known type: %s",
    (content) => {
      expect(pictureOfFile(base64(content))).toBeUndefined();
    },
  );

  it("is not shown if it is larger than 8 MiB", () => {
    const png = Buffer.alloc(MAX_SHOWN_BYTES);
    png.write("\x89PNG\r\n\x1a\n", "latin1");
    expect(pictureOfFile(png.toString("base64"))).toBeDefined();
    const larger = Buffer.concat([png, Buffer.alloc(64)]).toString("base64");
    expect(pictureOfFile(larger)).toBeUndefined();
  });
});

describe("the URL of a picture", () => {
  it.each([
    `data:image/svg+xml;base64,${base64(SVG)}`,
    `data:image/svg+xml,${encodeURIComponent(SVG)}`,
    `data:text/html;base64,${base64(SVG)}`,
    "data:image/png,plain",
    'data:image/png;base64,AA=="onerror="window.ran=1',
    "https://example.org/a.png",
    "javascript:window.ran=1",
    "/etc/passwd",
  ])("is refused: %s", (url) => {
    expect(shownPicture(url)).toBeUndefined();
  });
});
