import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LayeredConfig, mergeLayers, originsOf } from "./layered-config.ts";

/** Files with versions for stamps, and a count of what was read. */
function world(texts: Readonly<Record<string, string>>) {
  const files = new Map(Object.entries(texts));
  const versions = new Map<string, number>();
  let version = 1;
  const counts = { reads: 0 };
  const exists = (path: string) =>
    [...files.keys()].some((one) => one === path || one.startsWith(`${path}/`));
  return {
    files: {
      readText: async (path: string) => {
        counts.reads++;
        return files.get(path);
      },
      exists: async (path: string) => exists(path),
      realPath: async (path: string) => path,
      stamps: async (paths: readonly string[]) =>
        paths.map((path) => (exists(path) ? (versions.get(path) ?? 1) : 0)),
    },
    write(path: string, text: string): void {
      files.set(path, text);
      versions.set(path, ++version);
    },
    remove: (path: string) => files.delete(path),
    /** How many files `work` reads. */
    async reads(work: () => Promise<unknown>): Promise<number> {
      counts.reads = 0;
      await work();
      return counts.reads;
    },
  };
}

const layersOf = (text: string | undefined, ...overrides: string[]) =>
  new LayeredConfig(
    world(text === undefined ? {} : { "/home/config.toml": text }).files,
    "/home",
    overrides,
  ).read();

const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

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

  it("say what is wrong with a file that cannot be read", async () => {
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

  it("[LAYER-7] refuse the older way to choose a profile, and names that are none", async () => {
    const { files } = world({ "/home/config.toml": 'profile = "work"\n', "/home/work.config.toml": "" });
    const withProfile = (profile: string) => new LayeredConfig(files, "/home", [], { profile }).snapshot();
    expect((await withProfile("work")).layers).toHaveLength(2);
    await expect(withProfile("../work")).rejects.toMatchObject({ code: "badConfig" });
    const { base } = await withProfile("work");
    expect(() => base.config).toThrow(/legacy `profile = "work"` config is no longer supported/);
  });

  it("[LAYER-8] are neither read nor parsed again as long as no file changes", async () => {
    const project = 'model_reasoning_effort = "high"\n';
    const trust = `[projects."/work"]\ntrust_level = "trusted"\n[projects."/work".trusted_files]\n".codex/config.toml" = "${digest(project)}"\n`;
    const { files, write, remove, reads } = world({
      "/home/config.toml": trust,
      "/work/.git/HEAD": "",
      "/work/.codex/config.toml": project,
    });
    const layers = new LayeredConfig(files, "/home", []);
    const look = () => layers.snapshot("/work/sub");
    const first = await look();
    expect(first.config.effort).toBe("high");
    await look();
    expect(await reads(look)).toBe(0);
    expect(await look()).toBe(first);

    // What is written as it was is the same configuration.
    write("/home/config.toml", trust);
    expect(await look()).toBe(first);
    await look();
    for (const change of [
      () => write("/home/config.toml", `model = "offline"\n${trust}`),
      () => write("/etc/bobbin/config.toml", 'model_verbosity = "low"\n'),
      () => write("/work/sub/.bobbin/config.toml", ""),
      () => remove("/work/.codex/config.toml"),
      () => remove("/work/.git/HEAD"),
    ]) {
      const before = await look();
      change();
      expect(await look()).not.toBe(before);
      await look();
      expect(await reads(look)).toBe(0);
    }
  });
});
