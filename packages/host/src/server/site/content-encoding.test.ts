import { describe, expect, it } from "vitest";
import { encodeFor } from "./content-encoding.ts";

const file = {
  type: "text/javascript",
  body: Buffer.from("plain"),
  encoded: { br: Buffer.from("br"), gzip: Buffer.from("gzip") },
};

describe("the encoding of an asset", () => {
  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["GZIP", "gzip"],
    ["br;q=0, gzip;q=0.1", "gzip"],
    ["br; q=0.2 , gzip;q=1", "br"],
    ["*", "br"],
    ["*;q=0", "plain"],
    ["br;q=0, *", "gzip"],
    ["identity", "plain"],
    ["deflate", "plain"],
    ["br;q=zork", "plain"],
    ["", "plain"],
    [undefined, "plain"],
  ])("[CONSOLE-31] for Accept-Encoding: %s is %s", (accepted, expected) => {
    const { body, headers } = encodeFor(file, accepted);
    expect(body.toString()).toBe(expected);
    expect(headers["Content-Encoding"]).toBe(expected === "plain" ? undefined : expected);
    expect(headers.Vary).toBe("Accept-Encoding");
  });

  it("[CONSOLE-31] is none for a file that the build did not compress", () => {
    expect(encodeFor({ type: "x", body: file.body }, "br, gzip").headers).toEqual({
      Vary: "Accept-Encoding",
    });
  });
});
