import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { nodePlatform } from "../../platform/node.ts";
import { ruleFiles } from "../../store/files/document-files.ts";
import { ruleFor } from "./command-and-network-rules.ts";
import { RulesStore } from "./rules-store.ts";

async function home(text?: string): Promise<{ store: RulesStore; path: string }> {
  const folder = await freshFolder();
  const path = join(folder, "rules", "default.rules");
  if (text !== undefined) {
    await mkdir(join(folder, "rules"));
    await writeFile(path, text);
  }
  return { store: storeIn(folder), path };
}

function storeIn(home: string): RulesStore {
  const platform = nodePlatform();
  return new RulesStore(ruleFiles(home, platform), platform);
}

describe("rules that people allow for good", () => {
  it("are lines as the Codex CLI writes them, each once, and count at once", async () => {
    const { store, path } = await home();
    expect((await store.load()).rules.prefixes).toEqual([]);
    const prefix = ["ls", "-a", '--format="%h\n"'];
    await store.allow(prefix);
    await store.allow(["ls"]);
    await store.allow(prefix);
    expect(await readFile(path, "utf8")).toBe(
      'prefix_rule(pattern=["ls", "-a", "--format=\\"%h\\n\\""], decision="allow")\n' +
        'prefix_rule(pattern=["ls"], decision="allow")\n',
    );
    const { rules, bad } = await store.load();
    expect(bad).toEqual([]);
    expect(ruleFor(rules, [...prefix, "main"])?.decision).toBe("allow");
  });

  it("leave what people wrote as it is, with or without a last line end", async () => {
    for (const end of ["", "\n"]) {
      const { store, path } = await home(`# Mine.\n\nprefix_rule(["a"])${end}`);
      await store.allow(["ls"]);
      expect(await readFile(path, "utf8")).toBe(
        '# Mine.\n\nprefix_rule(["a"])\nprefix_rule(pattern=["ls"], decision="allow")\n',
      );
      expect(await store.revoke(["ls"])).toBe(true);
      expect(await store.revoke(["a"])).toBe(false);
      expect(await readFile(path, "utf8")).toBe('# Mine.\n\nprefix_rule(["a"])\n');
    }
  });

  it("[NETWORK-3] are added for hosts, each once, and taken back", async () => {
    const { store, path } = await home('prefix_rule(["a"])\n');
    await store.decideHost("example.org", "https", "allow");
    await store.decideHost("example.org", "https", "allow");
    await store.decideHost("evil.example", "http", "deny");
    const { rules } = await store.load();
    expect(rules.network).toMatchObject([
      { host: "example.org", protocol: "https", decision: "allow" },
      { host: "evil.example", protocol: "http", decision: "forbidden" },
    ]);
    const { hosts } = await store.list();
    expect(hosts.map(({ host, revocable }) => [host, revocable])).toEqual([
      ["example.org", true],
      ["evil.example", true],
    ]);
    expect(await store.revoke(["https://example.org"])).toBe(true);
    expect(await store.revoke(["https://evil.example"])).toBe(false);
    expect(await store.revoke(["http://evil.example/"])).toBe(true);
    expect(await readFile(path, "utf8")).toBe('prefix_rule(["a"])\n');
  });

  it("[NETWORK-3] are not revocable for hosts if a person wrote them in another way, or in another file", async () => {
    const { store, path } = await home('network_rule("example.org", "https", "allow")\n');
    const line = 'network_rule(host="other.example", protocol="https", decision="allow")\n';
    await writeFile(join(path, "..", "team.rules"), line);
    const { hosts } = await store.list();
    expect(hosts.map(({ host, revocable }) => [host, revocable])).toEqual([
      ["example.org", false],
      ["other.example", false],
    ]);
    expect(await store.revoke(["https://example.org"])).toBe(false);
    expect(await store.revoke(["https://other.example"])).toBe(false);
  });

  it("are all there when several hosts add some at once", async () => {
    const { store, path } = await home();
    const other = storeIn(join(path, "..", ".."));
    const words = Array.from({ length: 12 }, (_, nth) => ["ls", `${nth}`]);
    await Promise.all(words.map((prefix, nth) => (nth % 2 ? store : other).allow(prefix)));
    expect((await store.load()).rules.prefixes).toHaveLength(12);
  });

  it.each([
    [[]],
    [["bash"]],
    [["git"]],
    [["rm", "x"]],
    [["sudo", "ls"]],
    [["npm", "run"]],
    [["./build.sh"]],
    [["python3.11"]],
  ])("are never %j", async (prefix) => {
    const { store } = await home();
    await expect(store.allow(prefix)).rejects.toThrow("would allow too much");
  });
});

describe("rules files", () => {
  it("that cannot be read are reported, and the others count", async () => {
    const { store, path } = await home("x = 1\n");
    await writeFile(join(path, "..", "team.rules"), 'prefix_rule(["ls"])\n');
    await mkdir(join(path, "..", "folder.rules"));
    const { rules, bad } = await store.load();
    expect(bad).toMatchObject([{ file: path, line: 1 }]);
    expect(ruleFor(rules, ["ls"])?.decision).toBe("allow");
  });
});
