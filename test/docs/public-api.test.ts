// Everything that @bobbin/client and @bobbin/rap export has a doc comment, functions and classes also an example.
// That the examples have the right types is in test/packages/snippet-types.test.ts.
import { expect, it } from "vitest";
import { publicEntries } from "../support/public-api.ts";

const entries = await publicEntries("client", "rap");
const names = entries.flatMap(({ exports }) => exports);
const members = names.flatMap((one) => one.members.map((member) => ({ ...member, of: one.kind })));

it("[PACK-4] finds the exports of every entry", () => {
  expect(entries.map(({ specifier }) => specifier)).toEqual([
    "@bobbin/client",
    "@bobbin/client/node",
    "@bobbin/client/react",
    "@bobbin/rap",
    "@bobbin/rap/node",
    "@bobbin/rap/runtime",
    "@bobbin/rap/wire",
  ]);
  for (const { specifier, exports } of entries) expect(exports, specifier).not.toEqual([]);
  expect(names.map(({ name }) => name)).toContain("@bobbin/client Bobbin");
  expect(members.map(({ name }) => name)).toContain("@bobbin/client Bobbin.startThread");
});

it("[PACK-4] has a doc comment on each export and each member of one", () => {
  const without = [...names, ...members].filter(({ doc, isInternal }) => doc === "" && !isInternal);
  expect(without.map(({ name }) => name)).toEqual([]);
});

it("[PACK-4] has an example on each function, class and method of a class", () => {
  const wanted = [
    ...names.filter(({ kind }) => kind === "function" || kind === "class"),
    ...members.filter(({ kind, of }) => kind === "function" && of === "class"),
  ];
  expect(wanted.length).toBeGreaterThan(60);
  const without = wanted.filter(({ examples, isInternal }) => examples.length === 0 && !isInternal);
  expect(without.map(({ name }) => name)).toEqual([]);
});
