import { describe, expect, it } from "vitest";
import { ConfigLayers, mergeLayers, originsOf } from "./config-layers.ts";

const layersOf = (text: string | undefined, ...overrides: string[]) =>
  new ConfigLayers({ readText: async () => text }, "/home", overrides).read();

describe("layers of configuration", () => {
  it("are one empty one where nothing is configured", async () => {
    const layers = await layersOf(undefined);
    expect(layers).toMatchObject([
      { name: { type: "user", file: "/home/config.toml", profile: null }, config: {} },
    ]);
    expect([mergeLayers(layers), originsOf(layers)]).toEqual([{}, {}]);
  });

  it("merge tables, replace lists, and know where each value is from", async () => {
    const layers = await layersOf(
      'model = "a"\n[t]\nx = 1\nlist = [1, 2]\n',
      "t.x=2",
      "t.list=[3]",
      "t.y=word",
    );
    expect(mergeLayers(layers)).toEqual({ model: "a", t: { x: 2, list: [3], y: "word" } });
    const origins = originsOf(layers);
    const from = Object.entries(origins).map(([path, { name }]) => [path, name.type]);
    expect(Object.fromEntries(from)).toEqual({
      model: "user",
      "t.x": "sessionFlags",
      "t.list.0": "sessionFlags",
      "t.y": "sessionFlags",
    });
    expect(origins["model"]!.version).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("say what is wrong with a file that can not be read", async () => {
    await expect(layersOf("model = \n")).rejects.toMatchObject({
      code: "badConfig",
      message: expect.stringContaining("/home/config.toml"),
    });
  });

  it("keep their version as long as their values are the same", async () => {
    const version = async (text: string): Promise<string> => (await layersOf(text))[0]!.version;
    expect(await version("a = 1\nb = 2\n")).toBe(await version("# note\nb = 2\na = 1\n"));
    expect(await version("a = 1\n")).not.toBe(await version("a = 2\n"));
  });

  it("hold JSON only, and keys of any name", async () => {
    const layers = await layersOf("d = 2020-01-02T03:04:05Z\n", '__proto__.x="y"');
    const merged = mergeLayers(layers);
    expect(JSON.parse(JSON.stringify(merged))["d"]).toContain("2020-01-02");
    expect(Object.keys(merged)).toContain("__proto__");
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
