// Patches that fail on real files.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { nodeWorkspace } from "../../platform/node-workspace-files.ts";
import { applyPlan } from "./apply-plan.ts";
import type { FileWrite } from "./plan-patch.ts";

const added = (path: string): FileWrite => ({ path, before: null, after: "new\n" });

describe("a patch that fails", () => {
  it("[PATCH-13] removes the folders that it made, and restores the files", async () => {
    const cwd = await freshFolder("patched");
    await mkdir(join(cwd, "there"));
    await writeFile(join(cwd, "there", "old.txt"), "old\n");
    const writes: readonly FileWrite[] = [
      { path: join(cwd, "there", "old.txt"), before: "old\n", after: "changed\n" },
      added(join(cwd, "one", "two", "first.txt")),
      added(join(cwd, "one", "three", "second.txt")),
      added(join(cwd, "there", "new", "third.txt")),
      added(join(cwd, "forbidden.txt")),
    ];
    const outcome = await applyPlan(writes, nodeWorkspace, (path) => !path.endsWith("forbidden.txt"));
    expect(outcome).toMatchObject({ kind: "failed", changed: [] });
    expect(await readdir(cwd, { recursive: true })).toEqual(["there", join("there", "old.txt")]);
    expect(await readFile(join(cwd, "there", "old.txt"), "utf8")).toBe("old\n");
  });

  it("[PATCH-13] leaves no folder of the file that it could not write", async () => {
    const cwd = await freshFolder("patched");
    // Allowed when the path is resolved, and no longer when the file is written.
    let looks = 0;
    const outcome = await applyPlan(
      [added(join(cwd, "one", "two", "new.txt"))],
      nodeWorkspace,
      () => ++looks === 1,
    );
    expect(outcome).toMatchObject({ kind: "failed", changed: [] });
    expect(looks).toBe(2);
    expect(await readdir(cwd)).toEqual([]);
  });

  it("[PATCH-13] keeps a folder that it made if another program has put a file there", async () => {
    const cwd = await freshFolder("patched");
    const other = join(cwd, "one", "of-another.txt");
    const workspace = {
      ...nodeWorkspace,
      async read(path: string, maxBytes: number) {
        if (path.endsWith("forbidden.txt")) await writeFile(other, "");
        return nodeWorkspace.read(path, maxBytes);
      },
    };
    const writes = [added(join(cwd, "one", "two", "new.txt")), added(join(cwd, "forbidden.txt"))];
    await applyPlan(writes, workspace, (path) => !path.endsWith("forbidden.txt"));
    expect(await readdir(cwd, { recursive: true })).toEqual(["one", join("one", "of-another.txt")]);
  });
});
