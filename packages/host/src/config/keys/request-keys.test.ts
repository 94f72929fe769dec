import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CONFIG_KEYS } from "./catalogue.ts";
import { REQUEST_KEYS, unusedKeys } from "./request-keys.ts";

it("[KEYS-8] docs/layers.md lists exactly the keys that count in a request", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../../docs/layers.md"), "utf8");
  const section = /These keys count in a request:([^.]+)\./.exec(page)?.[1] ?? "";
  expect([...section.matchAll(/`([a-z_]+)`/g)].map(([, key]) => key)).toEqual(REQUEST_KEYS);
});

it("[KEYS-8] each other key that counts in config.toml is reported in a request", () => {
  const counting = Object.keys(CONFIG_KEYS).filter((key) => CONFIG_KEYS[key]!.codexOnly !== true);
  const all = Object.fromEntries(Object.keys(CONFIG_KEYS).map((key) => [key, true]));
  expect([...REQUEST_KEYS, ...unusedKeys(all)].sort()).toEqual(counting.sort());
});

it("[KEYS-8] a table with only keys of the Codex CLI is not reported", () => {
  expect(unusedKeys({ features: { apps: true } })).toEqual([]);
  expect(unusedKeys({ features: { apps: true, goals: false } })).toEqual(["features"]);
});
