import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeFiles } from "../../platform/node-files.ts";
import { DocumentFiles, ruleFiles } from "./document-files.ts";

let home: string;
let locks: string[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "bobbin-documents-"));
  locks = [];
});
afterEach(() => rm(home, { recursive: true }));

const platform = () => ({
  files: nodeFiles(),
  liveness: {
    exclusively: async <T>(path: string, work: () => Promise<T>): Promise<T> => {
      locks.push(path.slice(home.length + 1));
      return work();
    },
  },
});
const documents = () =>
  new DocumentFiles(home, platform(), async (work) => {
    locks.push("of the home");
    return work();
  });

it("replaces a document if it is still the version that was read", async () => {
  const store = documents();
  expect(await store.read("mcp")).toBeUndefined();
  expect(await store.replace("mcp", "one", undefined)).toBe(true);
  expect(await store.replace("mcp", "two", undefined)).toBe(false);
  const { text, version } = (await store.read("mcp"))!;
  expect(text).toBe("one");
  expect(await store.replace("mcp", "two", version)).toBe(true);
  expect(await store.replace("mcp", "three", version)).toBe(false);
  expect((await store.read("mcp"))?.text).toBe("two");
  expect(await readdir(home)).toEqual(["mcp.json"]);
});

it("locks rules by themselves, so that a command without a store can change them", async () => {
  await documents().replace("mcp", "{}", undefined);
  await documents().replace("projects/a", "{}", undefined);
  await documents().replace("rules/default", "allow", undefined);
  const apart = join("live", "rules.lock");
  expect(locks).toEqual(["of the home", "of the home", apart]);
  const rules = ruleFiles(home, platform());
  const { version } = (await rules.read("rules/default"))!;
  expect(await rules.replace("rules/default", "forbid", version)).toBe(true);
  expect(locks.at(-1)).toBe(apart);
  expect(() => rules.replace("mcp", "{}", undefined)).toThrow("only rules");
  expect(await readFile(join(home, "rules", "default.rules"), "utf8")).toBe("forbid");
});

it("lists the documents of a folder, and sets a broken one aside", async () => {
  const store = documents();
  expect(await store.list("rules")).toEqual([]);
  for (const name of ["rules/b", "rules/a"]) await store.replace(name, "x", undefined);
  await writeFile(join(home, "rules", "notes.txt"), "");
  await mkdir(join(home, "rules", "folder.rules"));
  expect([...(await store.list("rules"))].sort()).toEqual(["rules/a", "rules/b"]);
  await store.setAside("rules/a");
  expect(await store.list("rules")).toEqual(["rules/b"]);
  expect(await readdir(join(home, "rules"))).toContain("a.rules.broken");
});
