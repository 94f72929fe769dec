// Tool servers run where there is no Node, so what is imported at their start must not need it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const IMPORT = /^(?:import|export)(?! type)[^;]*? from "([^"]+)"|^import "([^"]+)"/gms;

/** Everything that a module needs when it is loaded. */
function needs(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.endsWith(".ts")) return seen;
  for (const [, from, bare] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const what = (from ?? bare)!;
    needs(what.startsWith(".") ? join(dirname(file), what) : what, seen);
  }
  return seen;
}

it("a tool server is loaded without anything of Node", () => {
  const all = [...needs(join(import.meta.dirname, "server/index.ts"))];
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((file) => !file.endsWith(".ts"))).toEqual(["@cfworker/json-schema"]);
  expect(all.filter((file) => file.includes("/node/"))).toEqual([]);
});

it("the messages are read without the server, and without the runtime", () => {
  const all = [...needs(join(import.meta.dirname, "wire/index.ts"))];
  expect(all.filter((file) => file.endsWith(".ts") && !file.includes("/wire/"))).toEqual([]);
});
