import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodePlatform } from "../platform/node.ts";
import type { TrustLevel } from "./project-rules.ts";
import { projectKey, trustIn, WithheldRuleNotes } from "./project-trust.ts";

const { files } = nodePlatform();
const said = (levels: Readonly<Record<string, TrustLevel | null>>) =>
  new Map(Object.entries(levels).map(([path, level]) => [path, { level, rules: null }]));

describe("trust in a folder", () => {
  it("[TRUST-1] is that of the folder itself, or else of the repository around it", async () => {
    const root = await freshFolder("project");
    const sub = join(root, "sub", "deeper");
    await mkdir(join(root, ".git"));
    await mkdir(sub, { recursive: true });
    const link = join(await freshFolder("links"), "link");
    await symlink(sub, link);
    expect(await trustIn(files, sub, said({}))).toBeNull();
    expect(await trustIn(files, sub, said({ [root]: "trusted" }))).toBe("trusted");
    expect(await trustIn(files, link, said({ [root]: "trusted" }))).toBe("trusted");
    expect(await trustIn(files, sub, said({ [root]: "trusted", [sub]: "untrusted" }))).toBe("untrusted");
    expect(await trustIn(files, sub, said({ [root]: "trusted", [sub]: null }))).toBe("trusted");
    // Only the root and the folder count, not what is between them.
    expect(await trustIn(files, sub, said({ [join(root, "sub")]: "trusted" }))).toBeNull();
    expect(await trustIn(files, "/no/such/folder", said({ "/no/such/folder": "trusted" }))).toBe("trusted");
  });
});

describe("rules that do not count", () => {
  const project = {
    root: '/a "b"',
    digest: "sha256:1",
    isTrusted: false,
    isWithheld: true,
    level: null,
  } as const;

  it("[TRUST-2] are warned of once for each content, with the command and the key", () => {
    const warned: string[] = [];
    const notes = new WithheldRuleNotes((_thread, message) => warned.push(message) > 0);
    notes.warn("t", project);
    notes.warn("t", project);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain("are not trusted");
    expect(warned[0]).toContain('`bobbin rules trust /a "b"`');
    expect(warned[0]).toContain('projects."/a \\"b\\"".trusted_rules');
    notes.warn("t", { ...project, digest: "sha256:2", level: "trusted" });
    notes.warn("u", project);
    expect(warned).toHaveLength(3);
    expect(warned[1]).toContain("are not those that were trusted");
  });

  it("are not warned of where nothing is withheld, or the project is not trusted on purpose", () => {
    const notes = new WithheldRuleNotes(() => {
      throw new Error("warned");
    });
    notes.warn("t", { ...project, isWithheld: false });
    notes.warn("t", { ...project, level: "untrusted" });
  });

  it("are warned of later if nobody was there", () => {
    let there = false;
    let count = 0;
    const notes = new WithheldRuleNotes(() => {
      count += 1;
      return there;
    });
    notes.warn("t", project);
    there = true;
    notes.warn("t", project);
    notes.warn("t", project);
    expect(count).toBe(2);
  });
});

describe("the key of a project", () => {
  it("can hold any path", () => {
    expect(projectKey('/a "b"\\c')).toBe('projects."/a \\"b\\"\\\\c"');
  });
});
