import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

function skill(root: string, name: string, description = `Does ${name}.`): string {
  mkdirSync(join(root, name), { recursive: true });
  const path = join(root, name, "SKILL.md");
  writeFileSync(path, `---\nname: ${name}\ndescription: ${description}\n---\nHow.\n`);
  return path;
}

async function host(config = "") {
  const home = await freshFolder();
  const cwd = await freshFolder();
  writeFileSync(join(home, "config.toml"), config);
  const { client } = await stdioHost({ home, env: { HOME: home } });
  return { client, home, cwd };
}

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

async function list(client: WireClient, cwd: string): Promise<Listed[]> {
  const { data } = await client.call("skills/list", { cwds: [cwd] });
  return data[0].skills;
}

async function names(client: WireClient, cwd: string): Promise<string[]> {
  return (await list(client, cwd)).map(({ name, enabled }) => (enabled ? name : `(${name})`));
}

describe("skills", () => {
  it("[SKILL-1] are switched off and on by path and by name, and config.toml keeps its comments", async () => {
    const written = '# Mine.\nmodel = "gpt-5" # The best.\n\n[skills]\n# Nothing yet.\n';
    const { client, home, cwd } = await host(written);
    const path = skill(join(home, "skills"), "alpha");
    skill(join(home, "skills"), "beta");
    expect(await client.call("skills/config/write", { path, enabled: false })).toEqual({
      effectiveEnabled: false,
    });
    expect(await client.call("skills/config/write", { name: "beta", enabled: false })).toEqual({
      effectiveEnabled: false,
    });
    expect(await names(client, cwd)).toEqual(["(alpha)", "(beta)"]);
    await client.call("skills/config/write", { path, enabled: true });
    expect(await names(client, cwd)).toEqual(["alpha", "(beta)"]);
    expect(await client.call("skills/config/write", { name: "beta", enabled: true })).toEqual({
      effectiveEnabled: true,
    });
    expect(await names(client, cwd)).toEqual(["alpha", "beta"]);
    const text = readFileSync(join(home, "config.toml"), "utf8");
    expect(text).toContain('# Mine.\nmodel = "gpt-5" # The best.\n');
    expect(text).toContain("# Nothing yet.");
  });

  it("[SKILL-1] need exactly one selector", async () => {
    const { client, home } = await host();
    await client.call("skills/config/write", { name: "alpha", enabled: false });
    const written = readFileSync(join(home, "config.toml"), "utf8");
    for (const params of [{}, { name: " " }, { name: "a", path: "/a" }, { path: "a" }])
      expect(await client.refusal("skills/config/write", { ...params, enabled: false })).toMatchObject({
        code: -32602,
        data: { code: "invalidParams" },
      });
    expect(written).toContain("alpha");
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe(written);
  });

  it("[SKILL-2] are found in further folders, which may be missing and can be replaced", async () => {
    const { client, cwd } = await host();
    const extra = await freshFolder();
    skill(extra, "gamma");
    const missing = join(await freshFolder(), "not", "yet");
    expect(await client.call("skills/extraRoots/set", { extraRoots: [extra, missing] })).toEqual({});
    await client.waitFor(({ method }) => method === "skills/changed", "skills/changed");
    expect(await names(client, cwd)).toEqual(["gamma"]);
    const from = client.frames.length;
    skill(missing, "delta");
    await client.waitFor(({ method }) => method === "skills/changed", "skills/changed", from);
    expect(await names(client, cwd)).toEqual(["delta", "gamma"]);
    await client.call("skills/extraRoots/set", { extraRoots: [] });
    expect(await names(client, cwd)).toEqual([]);
    expect(await client.refusal("skills/extraRoots/set", { extraRoots: ["a"] })).toMatchObject({
      data: { code: "invalidParams" },
    });
  });

  it("[SKILL-3] are reported when they are made, changed and removed", async () => {
    const { client, home, cwd } = await host();
    const root = join(home, "skills");
    expect(await names(client, cwd)).toEqual([]);
    const reported = async (act: () => void): Promise<void> => {
      const from = client.frames.length;
      act();
      await client.waitFor(({ method }) => method === "skills/changed", "skills/changed", from);
    };
    await reported(() => skill(root, "alpha"));
    expect(await names(client, cwd)).toEqual(["alpha"]);
    await reported(() => skill(root, "alpha", "Does it well."));
    expect((await list(client, cwd))[0]!.description).toBe("Does it well.");
    await reported(() => rmSync(join(root, "alpha"), { recursive: true }));
    expect(await names(client, cwd)).toEqual([]);
  });

  it("[SKILL-3] are not reported to those who never listed any", async () => {
    const { client, home, cwd } = await host();
    skill(join(home, "skills"), "alpha");
    const other = await freshFolder();
    expect(await client.call("fs/watch", { watchId: "w", path: other })).toEqual({ path: other });
    skill(join(home, "skills"), "beta");
    writeFileSync(join(other, "later"), "");
    await client.waitFor(({ method }) => method === "fs/changed", "fs/changed");
    expect(client.told("skills/changed")).toEqual([]);
    expect(await names(client, cwd)).toEqual(["alpha", "beta"]);
  });
});
