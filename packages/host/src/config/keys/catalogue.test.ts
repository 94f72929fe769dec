import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../config.ts";
import { START_ONLY } from "../start-only-keys.ts";
import { CONFIG_KEYS } from "./catalogue.ts";
import { configSchema } from "./json-schema.ts";
import type { Key, KeyTable, KeyType, TableType } from "./key.ts";
import { configReference } from "./reference-page.ts";

/** Every table of the catalogue, by its path; a name that people choose is `x`. */
function* tablesOf(type: KeyType, path: readonly string[] = []): Iterable<[readonly string[], KeyTable]> {
  if (type.kind === "either") for (const one of type.of) yield* tablesOf(one, path);
  if (type.kind !== "table") return;
  yield [path, type.keys];
  for (const [name, key] of Object.entries(type.keys))
    if (!key.codexOnly) yield* tablesOf(key.type, [...path, name]);
  if (type.named !== undefined) yield* tablesOf(type.named.key.type, [...path, name(path)]);
}

/** A name that entries of a table may have. */
function name(path: readonly string[]): string {
  return path[0] === "projects" ? "/x" : "x";
}

/** The keys that are looked for in a table at a path when the configuration is read. */
function asked(path: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  const spy = new Proxy(
    {},
    {
      get: (_, key) => void names.add(String(key)),
      // Some readers go through all keys; there are none.
      ownKeys: () => [],
    },
  );
  try {
    readConfig(path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), spy) as Record<string, unknown>);
  } catch {
    // Something that is required is missing: what was looked for until then counts.
  }
  return names;
}

describe("the catalogue of keys", () => {
  it.each(
    [...tablesOf({ kind: "table", keys: CONFIG_KEYS })].map(
      ([path, keys]) => [path.join("."), path, keys] as const,
    ),
  )("[KEYS-4] has every key that is read from the table %j", (_, path, keys) => {
    const known = Object.entries(keys).filter(([, key]) => key.codexOnly !== true);
    const names = new Set([...known.map(([one]) => one), "toJSON", "bearer_token", "profile"]);
    expect([...asked(path)].filter((one) => !names.has(one))).toEqual([]);
  });

  it("[KEYS-4] is held against what is really read", () => {
    expect(asked([]).size).toBeGreaterThan(40);
    expect([...asked(["model_providers", "x"])]).toContain("base_url");
  });

  it("[KEYS-4] marks the keys that only the start of a host takes up", () => {
    const keyAt = ([name, ...below]: readonly string[], keys: KeyTable): Key => {
      const key = keys[name!]!;
      return below.length === 0 ? key : keyAt(below, (key.type as TableType).keys);
    };
    const marked = START_ONLY.filter(([path]) => keyAt(path.split("."), CONFIG_KEYS).atStart === true);
    expect(marked).toEqual(START_ONLY);
    const tops = Object.keys(CONFIG_KEYS).filter((one) => CONFIG_KEYS[one]!.atStart === true);
    const names = START_ONLY.map(([path]) => path);
    expect(tops.filter((one) => !names.includes(one))).toEqual([]);
  });

  it("[KEYS-4] says of each key in one sentence what it is for", () => {
    const wrong: string[] = [];
    for (const [path, keys] of tablesOf({ kind: "table", keys: CONFIG_KEYS }))
      for (const [one, { about }] of Object.entries(keys))
        if (!/^[A-Z`].*\.$/s.test(about)) wrong.push([...path, one].join("."));
    expect(wrong).toEqual([]);
  });

  it("[KEYS-5] is what docs/configuration.md and the JSON Schema say; node scripts/config-reference.mjs writes both", () => {
    const doc = (file: string) =>
      readFileSync(join(import.meta.dirname, "../../../../../docs", file), "utf8");
    expect(doc("configuration.md")).toBe(configReference());
    expect(JSON.parse(doc("config.schema.json"))).toEqual(JSON.parse(JSON.stringify(configSchema())));
  });
});
