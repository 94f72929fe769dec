import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Config, readConfig } from "../config/config.ts";
import { nodeFiles } from "../platform/node-files.ts";
import { ReachLookup } from "./owner-access.ts";

let top: string;
let home: string;
let config: Config;
let reachLookup: ReachLookup;
const files = nodeFiles();

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "reach-")));
  home = join(top, "home");
  for (const folder of ["home/work", "ann/inner", "bob", "secret"])
    await mkdir(join(top, folder), { recursive: true });
  for (const folder of ["home", "home/work", "ann", "secret"])
    await writeFile(join(top, folder, "AGENTS.md"), `Of ${folder}.`);
  reachLookup = new ReachLookup({ home, cwd: top, files, config: () => config });
});
afterEach(() => rm(top, { recursive: true }));

function allow(subjects: object, more: object = {}): void {
  config = readConfig({ subjects, ...more }, { home });
}
const at = (...names: string[]) => join(top, ...names);
const code = (work: Promise<unknown>) =>
  work.then(
    () => "allowed",
    (cause: { code: string }) => cause.code,
  );

describe("the reach of the host's own user", () => {
  it("is everything", async () => {
    allow({});
    const reach = reachLookup.of("local");
    expect(await code(reach.checkPath("cwd", at("secret")))).toBe("allowed");
    expect(await reach.files.readText(at("secret", "AGENTS.md"))).toBe("Of secret.");
    expect(reach.cwd).toBe(top);
    expect(reach.config).toBe(config);
    expect(reach.grants("full-access")).toBe(true);
  });
});

describe("the reach of a subject", () => {
  it("[REACH-2] has no folder, file or address unless the configuration gives it some", async () => {
    allow({});
    const reach = reachLookup.of("subject:ann");
    expect(reach.hasFiles).toBe(false);
    for (const path of [at("ann"), at("secret"), home, "/", reach.cwd])
      expect(await code(reach.checkPath("cwd", path)), path).toBe("pathNotAllowed");
    expect(await reach.files.readText(at("ann", "AGENTS.md"))).toBeUndefined();
    expect((await reach.workspaceFacts.read(at("ann"))).docs).toEqual([]);
    expect(() => reach.checkLoadSettings({ toolServers: { x: { url: "http://127.0.0.1:9" } } })).toThrow(
      "may not use http://127.0.0.1:9",
    );
  });

  it("[REACH-2] starts in its first folder, or nowhere", () => {
    allow({ ann: { roots: [at("ann"), at("bob")] } });
    expect(reachLookup.of("subject:ann").cwd).toBe(at("ann"));
    expect(reachLookup.of("subject:bob").cwd).toBe(join(home, "nowhere"));
  });

  it("[REACH-1] ends at its roots, whichever way a path takes", async () => {
    allow({ ann: { roots: [at("ann")] } });
    await symlink(at("secret"), at("ann", "out"));
    await symlink(at("ann", "inner"), at("way-in"));
    const reach = reachLookup.of("subject:ann");
    for (const path of [at("ann"), at("ann", "inner"), at("ann", "new", "folder"), at("way-in")])
      expect(await code(reach.checkPath("cwd", path)), path).toBe("allowed");
    for (const path of [
      top,
      at("secret"),
      at("ann", "out"),
      at("ann", "out", "new"),
      `${at("ann")}/../secret`,
      `${at("ann")}-else`,
      at("ann", "a\0b"),
      at("ann", "x".repeat(5000)),
    ])
      expect(await code(reach.checkPath("cwd", path)), path).toBe("pathNotAllowed");
  });

  it("[REACH-1] leaves out the host's home, unless a root is within it", async () => {
    allow({ ann: { roots: [top] }, bob: { roots: [top, join(home, "work")] } });
    const ann = reachLookup.of("subject:ann");
    expect(await ann.files.readText(at("secret", "AGENTS.md"))).toBe("Of secret.");
    expect(await ann.files.readText(join(home, "AGENTS.md"))).toBeUndefined();
    expect(await ann.files.readText(join(home, "work", "AGENTS.md"))).toBeUndefined();
    const bob = reachLookup.of("subject:bob");
    expect(await bob.files.readText(join(home, "work", "AGENTS.md"))).toBe("Of home/work.");
    expect(await bob.files.readText(join(home, "AGENTS.md"))).toBeUndefined();
  });

  it("[REACH-1] does not grow when a folder in it is replaced by a link, even one that is a root itself", async () => {
    allow({ ann: { roots: [at("ann"), at("ann", "inner")] } });
    await rename(at("ann", "inner"), at("ann", "before"));
    await symlink(at("secret"), at("ann", "inner"));
    const reach = reachLookup.of("subject:ann");
    expect(await code(reach.checkPath("cwd", at("ann", "inner")))).toBe("pathNotAllowed");
    expect(await reach.files.readText(at("secret", "AGENTS.md"))).toBeUndefined();
    expect(await code(reach.checkPath("cwd", at("ann", "before")))).toBe("allowed");
  });

  it("[REACH-1] is not widened by what was read for others", async () => {
    allow({ ann: { roots: [at("ann")] } });
    expect((await reachLookup.of("local").workspaceFacts.read(at("ann"))).docs).toHaveLength(2);
    expect((await reachLookup.of("subject:ann").workspaceFacts.read(at("ann"))).docs).toMatchObject([
      { text: "Of ann." },
    ]);
    expect((await reachLookup.of("subject:bob").workspaceFacts.read(at("ann"))).docs).toEqual([]);
  });

  it("[REACH-1] follows the configuration as it is now", async () => {
    allow({ roots: [at("ann")] });
    expect(await code(reachLookup.of("subject:ann").checkPath("cwd", at("ann")))).toBe("allowed");
    allow({});
    expect(await code(reachLookup.of("subject:ann").checkPath("cwd", at("ann")))).toBe("pathNotAllowed");
  });

  it("[REACH-5] takes a sandbox away that is no longer granted", () => {
    allow({ allow: ["full-access"] });
    const settings = { sandbox: { type: "dangerFullAccess" }, permissionProfile: null } as never;
    expect(reachLookup.of("subject:ann").narrowed(settings)).toEqual({});
    allow({});
    expect(reachLookup.of("subject:ann").narrowed(settings)).toEqual({
      sandbox: { type: "readOnly", networkAccess: false },
      permissionProfile: ":read-only",
    });
  });
});

describe("the tool servers of a subject", () => {
  it.each([
    ["http://127.0.0.1:8790/dice", true],
    ["http://127.0.0.1:8790/dice/", true],
    ["http://127.0.0.1:8790/dice/v2", true],
    ["HTTP://127.0.0.1:8790/dice/./v2", true],
    ["https://tools.example", true],
    ["https://tools.example:443/anything", true],
    ["http://127.0.0.1:8790", false],
    ["http://127.0.0.1:8790/dicer", false],
    ["http://127.0.0.1:8790/dice/../admin", false],
    ["http://127.0.0.1:8790/dice/%2e%2e/admin", false],
    ["http://127.0.0.1:8790/dice\\..\\admin", false],
    ["http://127.0.0.1:8791/dice", false],
    ["https://127.0.0.1:8790/dice", false],
    ["http://localhost:8790/dice", false],
    ["http://tools.example", false],
    ["https://tools.example.evil.example", false],
  ])("[REACH-3] %s: %s", (url, allowed) => {
    allow({ tool_servers: ["http://127.0.0.1:8790/dice/", "https://tools.example"] });
    const check = () => reachLookup.of("subject:ann").checkLoadSettings({ toolServers: { own: { url } } });
    if (allowed) check();
    else expect(check).toThrow(`toolServers.own: this subject may not use ${url}`);
  });

  it("[REACH-3] name no origins beside their own that are not allowed, either", () => {
    allow({ tool_servers: ["https://tools.example"] });
    const server = (origin: string) => ({ own: { url: "https://tools.example", allowed_origins: [origin] } });
    const reach = reachLookup.of("subject:ann");
    reach.checkLoadSettings({ toolServers: server("https://tools.example/other") });
    expect(() => reach.checkLoadSettings({ toolServers: server("http://127.0.0.1:9") })).toThrow(
      "127.0.0.1:9",
    );
    // Anyone may switch configured servers off.
    reach.checkLoadSettings({ toolServers: { shop: false, desk: null, well: true } });
  });

  it("[REACH-4] are not MCP servers, unless granted", () => {
    allow({ bob: { allow: ["mcp-servers"] } });
    const mcpServers = { own: { command: "sh" } };
    expect(() => reachLookup.of("subject:ann").checkLoadSettings({ mcpServers })).toThrow('"mcp-servers"');
    reachLookup.of("subject:ann").checkLoadSettings({ mcpServers: { shop: false } });
    reachLookup.of("subject:bob").checkLoadSettings({ mcpServers });
  });
});
