// The list of record → effect pairs names tests that exist, and leaves out no type of record.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RECORDS } from "../../packages/host/src/core/records.ts";
import { type CrashTest, recordEffects } from "./record-effects.ts";

const root = join(import.meta.dirname, "../..");

/** Whether a file has a string that is the title, or a template that can become it. */
function hasTitle(source: string, title: string): boolean {
  for (const [, , text] of source.matchAll(/(["'`])((?:\\.|(?!\1)[^\\])*)\1/g)) {
    const pattern = text!
      .split(/\$\{[^}]*\}/)
      .map((part) => part.replaceAll(/[.*+?^$()|[\]{}\\]/g, String.raw`\$&`))
      .join(".+");
    if (pattern.replaceAll(".+", "").length > 10 && new RegExp(`^${pattern}$`).test(title)) return true;
  }
  return false;
}

function isThere({ file, title }: CrashTest): boolean {
  const path = join(root, file);
  return existsSync(path) && hasTitle(readFileSync(path, "utf8"), title);
}

it("names a test that crashes between each record and each of its effects", () => {
  const missing = Object.entries(recordEffects).flatMap(([type, effects]) =>
    "none" in effects
      ? []
      : effects.filter(({ crash }) => !isThere(crash)).map(({ effect }) => [type, effect]),
  );
  expect(missing).toEqual([]);
});

it("has every type of record, with an effect or the reason why there is none", () => {
  expect(Object.keys(recordEffects).sort()).toEqual(Object.keys(RECORDS).sort());
  for (const [type, effects] of Object.entries(recordEffects)) {
    const said = "none" in effects ? [effects.none] : effects.map(({ effect }) => effect);
    expect(said.length, type).toBeGreaterThan(0);
    for (const text of said) expect(text.length, type).toBeGreaterThan(4);
  }
});

it("does not accept the title of a test that does not exist", () => {
  const file = "test/model/crash-records.test.ts";
  expect(isThere({ file, title: "is followed by a host that performs the effect: closed" })).toBe(true);
  expect(isThere({ file, title: "is followed by two that do it: closed" })).toBe(false);
  expect(isThere({ file: "test/model/nowhere.test.ts", title: "anything" })).toBe(false);
});
