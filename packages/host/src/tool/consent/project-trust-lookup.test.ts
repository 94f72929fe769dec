import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../../../../../test/support/folder.ts";
import { nodePlatform } from "../../platform/node.ts";
import type { TrustLevel } from "./project-rules.ts";
import { projectKey, trustIn } from "./project-trust-lookup.ts";

const { files } = nodePlatform();
const said = (levels: Readonly<Record<string, TrustLevel | null>>) =>
  new Map(Object.entries(levels).map(([path, level]) => [path, { level, rules: null }]));

describe("trust in a folder", () => {
  it("[TRUST-1] is that of the folder itself, or else of the repository around it", async () => {
    const root = await freshFolder("project");
    const sub = join(root, "sub", "deeper");
    markRepository(root);
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

describe("the key of a project", () => {
  it("can hold any path", () => {
    expect(projectKey('/a "b"\\c')).toBe('projects."/a \\"b\\"\\\\c"');
  });
});
