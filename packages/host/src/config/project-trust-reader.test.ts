import { describe, expect, it } from "vitest";
import { readProjects } from "./project-trust-reader.ts";

describe("[projects]", () => {
  it("says which projects are trusted, and with which rules", () => {
    const table = {
      projects: {
        "/a/": { trust_level: "trusted", trusted_rules: "sha256:1" },
        "/b": { trust_level: "untrusted" },
        "/c": {},
      },
    };
    expect([...readProjects(table)]).toEqual([
      ["/a", { level: "trusted", rules: "sha256:1" }],
      ["/b", { level: "untrusted", rules: null }],
      ["/c", { level: null, rules: null }],
    ]);
    expect([...readProjects({})]).toEqual([]);
  });

  it.each([
    [{ a: {} }, 'projects: "a" must be an absolute path'],
    [
      { "/a": { trust_level: "maybe" } },
      'projects."/a".trust_level: "maybe" is not one of trusted, untrusted',
    ],
    [{ "/a": 1 }, "projects./a: expected a table, found 1"],
  ])("refuses %j", (projects, message) => {
    expect(() => readProjects({ projects })).toThrow(message);
  });
});
