import { describe, expect, it } from "vitest";
import { inlineMedia } from "./media.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const png = `data:image/png;base64,${PNG}`;

describe("a picture in a data URL", () => {
  it("gets the type that its bytes have, not the declared one", () => {
    expect(inlineMedia(png, "image")).toEqual({ url: png });
    expect(inlineMedia(`data:image/jpeg;base64,${PNG}`, "image")).toEqual({ url: png });
    expect(inlineMedia(`DATA:text/plain;x=y;base64,${PNG}`, "image")).toEqual({ url: png });
  });

  it.each([
    "https://example.org/a.png",
    "file:///a.png",
    "data:image/png,raw",
    "data:image/png;base64,",
    "data:image/png;base64,####",
    "data:image/png;base64,iVBORw0KGgo=",
    "data:image/png;base64,R0lGODlhAAAAAA==",
    "data:image/svg+xml;base64,PHN2Zy8+",
  ])("is none as %s", (url) => {
    expect(inlineMedia(url, "image")).toEqual({ problem: expect.any(String) });
  });
});

describe("a sound in a data URL", () => {
  it("has one of the types that models accept", () => {
    expect(inlineMedia("data:audio/wav;base64,UklGRg==", "audio")).toHaveProperty("url");
    for (const url of ["https://a/b.wav", "data:audio/flac;base64,UklGRg==", "data:audio/mp3;base64,####"])
      expect(inlineMedia(url, "audio")).toHaveProperty("problem");
  });
});
