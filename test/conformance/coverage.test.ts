// Every requirement has a test, and no test claims one that is not there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { requirements } from "./requirements.ts";
import { rapLines, rapOthers, rapPages, rapPending } from "./requirements-rap.ts";

const root = join(import.meta.dirname, "../..");

/** Ids in the titles of tests, by the files that name them. */
function claims(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of ["test", "packages", "examples"]) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!entry.endsWith(".test.ts") || entry.includes("node_modules")) continue;
      const text = readFileSync(join(root, folder, entry), "utf8");
      // A title is a string that starts with ids in brackets; nothing else in a test file looks like that.
      for (const [, title] of text.matchAll(/["'`]((?:\[[A-Z]+-\d+\] )+)/g)) {
        for (const [, id] of title!.matchAll(/\[([A-Z]+-\d+)\]/g)) {
          found.set(id!, [...(found.get(id!) ?? []), `${folder}/${entry}`]);
        }
      }
    }
  }
  return found;
}

it("finds a test for every requirement, and a requirement for every id in a title", () => {
  const claimed = claims();
  const known = new Set(requirements.map(({ id }) => id));
  const pending = new Set(rapPending);
  const uncovered = requirements.filter(({ id }) => !claimed.has(id) && !pending.has(id));
  expect(uncovered, "requirements that no test covers").toEqual([]);
  const unknown = [...claimed].filter(([id]) => !known.has(id));
  expect(unknown, "tests that name a requirement that is not there").toEqual([]);
});

it("gives every requirement a unique id", () => {
  const files = readdirSync(import.meta.dirname).filter((file) => /^requirements.*\.ts$/.test(file));
  const ids = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), "utf8");
    return Array.from(text.matchAll(/^ {2}"([A-Z]+-\d+)":/gm), ([, id]) => id!);
  });
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

it("lists exactly the requirements that have no test", () => {
  if (rapPending.length > 0)
    process.stdout.write(`without a test for now (${rapPending.length}): ${rapPending.join(" ")}\n`);
  const claimed = claims();
  expect(rapPending.filter((id) => claimed.has(id) || !(id in rapLines))).toEqual([]);
});

it("has a requirement of every page of the tool protocol's specification", () => {
  const pages = [...Object.values(rapLines), ...Object.values(rapOthers)].flatMap(([on]) => on.split(" "));
  expect([...new Set(pages)].sort()).toEqual([...rapPages].sort());
  const docs = readFileSync(join(root, "docs/tool-servers.md"), "utf8");
  expect(Object.keys(rapOthers).filter((id) => !docs.includes(id))).toEqual([]);
});

it("[RAPR-4] documents how long a callback URL is valid", () => {
  const docs = readFileSync(join(root, "docs/rap-host.md"), "utf8");
  expect(docs).toMatch(/capability for one call/);
  expect(docs).toMatch(/\*\*Its lifetime\*\* is that of the thread's load/);
});
