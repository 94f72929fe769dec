import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelNames } from "./tool-names.ts";

const server = (name: string, ...tools: readonly string[]) => ({
  name,
  tools: tools.map((tool) => ({ name: tool })),
});

describe("names of MCP tools for models", () => {
  it("[MCPCALL-1] have the server as namespace, with `_` for `-`", () => {
    expect(modelNames([server("my-server", "gzip-file", "echo")])).toEqual([
      { namespace: "mcp__my_server", tools: ["gzip_file", "echo"] },
    ]);
  });

  it("[MCPCALL-1] leave the exact name alone where another one would become equal", () => {
    const [exact, changed] = modelNames([server("a_b", "x"), server("a-b", "x")]);
    expect(exact!.namespace).toBe("mcp__a_b");
    expect(changed!.namespace).toMatch(/^mcp__a_b_[0-9a-f]{10}$/);
    const [tools] = modelNames([server("s", "t-u", "t_u", "t.u")]);
    expect(tools!.tools[1]).toBe("t_u");
    expect(new Set(tools!.tools).size).toBe(3);
  });

  it("[MCPCALL-1] differ on wires without namespaces, too", () => {
    const [one, other] = modelNames([server("a", "b__c"), server("a__b", "c")]);
    expect(`${one!.namespace}__${one!.tools[0]}`).not.toBe(`${other!.namespace}__${other!.tools[0]}`);
  });

  it("[MCPCALL-1] do not depend on the order of servers", () => {
    const servers = [server("a-b", "x", "y"), server("a.b", "x"), server("a_b", "x-y")];
    const names = modelNames(servers);
    expect(modelNames(servers.toReversed()).toReversed()).toEqual(names);
  });

  it("[MCPCALL-1] are valid, short and different, whatever servers call their tools", () => {
    const word = fc.oneof(
      fc.string({ maxLength: 90 }),
      fc.string({ unit: fc.constantFrom("a", "_", "-", "."), maxLength: 12 }),
      fc.string({ unit: fc.constantFrom("x"), minLength: 30, maxLength: 140 }),
    );
    const servers = fc.uniqueArray(fc.record({ name: word, tools: fc.uniqueArray(word, { maxLength: 8 }) }), {
      selector: ({ name }) => name,
      maxLength: 5,
    });
    fc.assert(
      fc.property(servers, (given) => {
        const names = modelNames(given.map(({ name, tools }) => server(name, ...tools)));
        const full = names.flatMap(({ namespace, tools }) => tools.map((tool) => `${namespace}__${tool}`));
        expect(new Set(full).size).toBe(full.length);
        expect(new Set(names.map(({ namespace }) => namespace)).size).toBe(given.length);
        for (const name of full) expect(name).toMatch(/^[a-zA-Z0-9_]{1,64}$/);
        for (const { tools } of names) for (const tool of tools) expect(tool).not.toBe("");
      }),
    );
  });
});
