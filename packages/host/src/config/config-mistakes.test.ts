import { expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { readNamingMistakes } from "./config-mistakes.ts";

const messageOf = (table: Record<string, unknown>): string => {
  try {
    readNamingMistakes(table, readConfig);
    return "";
  } catch (cause) {
    return (cause as Error).message;
  }
};

it("names every mistake, one per line", () => {
  const message = messageOf({
    approval_policy: 7,
    model: 3,
    sandbox_mode: "nope",
    model_providers: { a: { base_url: "http://a", wire_api: 5 }, b: { base_url: "http://b" } },
  });
  const lines = message.split("\n");
  expect(lines.map((line) => line.replace(/:.*/, "")).sort()).toEqual([
    "approval_policy",
    "model",
    "model_providers.a.wire_api",
    "sandbox_mode",
  ]);
});

it("stops at a mistake that it cannot leave out, and after ten", () => {
  expect(messageOf({ profile: "x", model: 3 }).split("\n")).toHaveLength(1);
  const providers = Object.fromEntries(
    Array.from({ length: 20 }, (_, nth) => [`p${nth}`, { base_url: "http://a", wire_api: 5 }]),
  );
  expect(messageOf({ model_providers: providers }).split("\n")).toHaveLength(10);
});

it("reads what has no mistake", () => {
  expect(readNamingMistakes({ model: "m" }, readConfig).model).toBe("m");
});
