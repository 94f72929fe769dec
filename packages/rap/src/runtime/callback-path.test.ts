import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { callbackPath, readCallbackPath } from "./index.ts";

const signer = (key: Buffer) => (text: string) => createHmac("sha256", key).update(text).digest("base64url");
const sign = signer(randomBytes(32));
const SUBJECT = {
  threadId: "0192f0c1-0000-7000-8000-000000000001",
  load: 3,
  server: "desk",
  callId: "call_1-2",
};

describe("a callback path", () => {
  it("names the call that it was issued for, also behind a proxy's path prefix", () => {
    const path = callbackPath(SUBJECT, sign);
    expect(readCallbackPath(path, sign)).toEqual(SUBJECT);
    expect(readCallbackPath(`/hooks/bobbin${path}`, sign)).toEqual(SUBJECT);
    const strange = { ...SUBJECT, callId: "a/b?c#d ü" };
    expect(readCallbackPath(callbackPath(strange, sign), sign)).toEqual(strange);
  });

  it.each(["..", ".", "%2e%2E", "a/b", "ü".repeat(128), "🧵\ud83e", "a.0062"])(
    "reads the same after it was an address, with the name %s",
    (server) => {
      const subject = { ...SUBJECT, server };
      const { pathname } = new URL(`https://host.example.com/hooks${callbackPath(subject, sign)}`);
      expect(pathname).not.toContain("%");
      expect(readCallbackPath(pathname, sign)).toEqual(subject);
    },
  );

  it("[RAPR-7] can be neither guessed nor changed", () => {
    const path = callbackPath(SUBJECT, sign);
    const end = path.length - 1;
    const forged = [
      path.replace("/3/", "/4/"),
      path.replace("call_1-2", "call_1-3"),
      path.replace("desk", "mail"),
      path.replace("0001/", "0002/"),
      path.slice(0, end),
      `${path}A`,
      `${path.slice(0, -43)}${"A".repeat(43)}`,
      `${path}/`,
      callbackPath(SUBJECT, signer(randomBytes(32))),
      "/rap/callback/",
      "/",
    ];
    // Every character of the hash counts, except for unused bits of base64 in the last one.
    for (let at = path.length - 43; at < end; at++) {
      forged.push(`${path.slice(0, at)}${path[at] === "A" ? "B" : "A"}${path.slice(at + 1)}`);
    }
    expect(forged.map((one) => readCallbackPath(one, sign)).filter((read) => read !== undefined)).toEqual([]);
  });
});
