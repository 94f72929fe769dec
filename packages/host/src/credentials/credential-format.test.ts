import { expect, it } from "vitest";
import { credentialText, parseCredential } from "./credential-format.ts";

const KEY = JSON.stringify(["mcp", "a/b\n"]);

it("reads what it wrote, sealed or not", () => {
  for (const credential of [{ value: "one" }, { item: "an item", sealed: "two" }])
    expect(parseCredential(credentialText(KEY, credential), KEY)).toEqual(credential);
});

it("finds no credential in a text that is damaged, or of another key", () => {
  const text = credentialText(KEY, { value: "one" });
  const key = JSON.stringify(KEY);
  const damaged = [`{"key":${key},"item":"x"}`, `{"key":${key},"sealed":"x","item":1}`];
  const others = ["", "{", "null", "[]", '{"key":1}', text.replace("mcp", "mcq"), text.slice(0, 20)];
  for (const wrong of [undefined, ...others, ...damaged])
    expect(parseCredential(wrong, KEY), wrong).toBeUndefined();
});
