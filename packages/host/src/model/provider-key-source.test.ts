import { expect, it } from "vitest";
import { keySource } from "./provider-key-source.ts";
import type { ProviderSettings } from "./provider-settings.ts";

const plain = { bearerToken: null, envKey: "KEY", envKeyFirst: false, requiresOpenaiAuth: false };

it.each([
  ["config", { bearerToken: "secret" }, { KEY: "set" }, true],
  ["environment", {}, { KEY: "set" }, false],
  ["environment", { envKeyFirst: true }, { KEY: "set" }, true],
  ["stored", {}, { KEY: "set" }, true],
  ["stored", { envKeyFirst: true }, { KEY: " " }, true],
  ["missing", {}, {}, false],
  ["missing", { envKey: null, requiresOpenaiAuth: true }, {}, false],
  ["notNeeded", { envKey: null }, {}, false],
] as const)("finds the key's source: %s", (expected, settings, env, isStored) => {
  expect(keySource({ ...plain, ...settings } as ProviderSettings, env, isStored)).toBe(expected);
});
