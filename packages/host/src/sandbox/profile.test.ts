import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../../test/support/sandbox-here.ts";
import { nodePlatform } from "../platform/node.ts";
import type { FileRule, PermissionProfile } from "./permission-profile.ts";
import { createSandbox } from "./sandbox.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "bobbin-profile-")));
  await chmod(folder, 0o755);
  for (const name of ["home", "work/docs", "work/deep/er", "other", "private/public"])
    await mkdir(join(folder, name), { recursive: true });
  for (const name of [
    "work/a.txt",
    "work/.env",
    "work/deep/er/.env",
    "work/docs/d.txt",
    "other/o.txt",
    "private/p.txt",
    "private/public/q.txt",
  ])
    await writeFile(join(folder, name), `text of ${name}\n`);
  await symlink(join(folder, "private", "p.txt"), join(folder, "work", "link"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a script under a profile with these rules. */
async function run(
  script: string,
  rules: readonly FileRule[],
  more: Partial<PermissionProfile> = {},
): Promise<string> {
  const [output] = await runAll([script], rules, more);
  return output!;
}

/** Runs scripts one after the other in the same sandbox. */
async function runAll(
  scripts: readonly string[],
  rules: readonly FileRule[],
  more: Partial<PermissionProfile> = {},
): Promise<readonly string[]> {
  const platform = nodePlatform();
  const profile = {
    id: "p",
    description: null,
    extends: null,
    workspaceRoots: [],
    rules,
    globScanMaxDepth: 8,
    network: false,
    ...more,
  };
  const sandbox = createSandbox({
    platform,
    home: join(folder, "home"),
    profiles: () => new Map([["p", profile]]),
  });
  const outputs: string[] = [];
  for (const script of scripts) {
    const confined = await sandbox.confine({
      program: {
        argv: ["/bin/sh", "-c", script],
        cwd: join(folder, "work"),
        env: { PATH: "/usr/bin:/bin", F: folder },
        stdin: "closed",
      },
      policy: { type: "readOnly", networkAccess: false },
      profile: "p",
      roots: [join(folder, "work")],
      gitWritable: false,
    });
    if (confined.kind === "unavailable") throw new Error(confined.reason);
    const running = await platform.spawn(confined.program);
    let output = "";
    for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
    await confined.release();
    outputs.push(output);
  }
  return outputs;
}

const ROOT: FileRule = { place: { kind: "root" }, access: "read" };
const MINIMAL: FileRule = { place: { kind: "minimal" }, access: "read" };
const WORK: FileRule = { place: { kind: "workspace", below: "" }, access: "write" };
const deny = (path: string): FileRule => ({
  place: { kind: "path", path: join(folder, path) },
  access: "deny",
});

describe.runIf(hasSandbox)("a profile that somebody wrote", () => {
  it("[SANDBOX-8] shows nothing that it does not name", async () => {
    const output = await run("cat a.txt $F/other/o.txt; ls -A $F; echo x > b.txt && echo written", [
      MINIMAL,
      WORK,
    ]);
    expect(output).toContain("text of work/a.txt");
    expect(output).toContain("written");
    expect(output).not.toContain("text of other");
    expect(output).not.toMatch(/^(other|private)$/m);
  });

  it("[SANDBOX-8] denies paths and patterns, also inside of what may be written, and through links", async () => {
    const rules = [
      ROOT,
      WORK,
      deny("private"),
      { place: { kind: "pattern", folder: null, pattern: "**/.env" }, access: "deny" },
    ] as const;
    const output = await run(
      "cat a.txt .env deep/er/.env link $F/private/p.txt; rm -f .env; mv .env x; echo y > .env; cat x",
      rules,
    );
    expect(output).toContain("text of work/a.txt");
    expect(output).not.toMatch(/text of (work\/\.env|work\/deep|private)/);
  });

  it("[SANDBOX-8] denies a file that was created since the last command", async () => {
    const rules = [
      ROOT,
      WORK,
      { place: { kind: "pattern", folder: null, pattern: "**/*.key" }, access: "deny" },
    ] as const;
    const [, second] = await runAll(["echo secret > deep/new.key", "cat deep/new.key"], rules);
    expect(second).not.toContain("secret");
  });

  it("[SANDBOX-10] keeps a denied file hidden: no folder on its way can be renamed, in this command or the next", async () => {
    const rules: readonly FileRule[] = [
      ROOT,
      WORK,
      { place: { kind: "pattern", folder: null, pattern: "**/.env" }, access: "deny" },
    ];
    const script =
      "mv deep moved 2>/dev/null; mv deep/er deep/moved 2>/dev/null; touch deep/made; cat */*/.env .env";
    const outputs = await runAll([script, script, "ls deep"], rules);
    expect(outputs.join("")).not.toContain("text of");
    expect(outputs[2]).toBe("er\nmade\n");
  });

  it("lets the longer path count: read-only in writable, readable and writable in denied", async () => {
    const open = (path: string, access: "read" | "write"): FileRule => ({
      place: { kind: "path", path: join(folder, path) },
      access,
    });
    const docs: FileRule = { place: { kind: "workspace", below: "docs" }, access: "read" };
    const rules = [ROOT, WORK, docs, deny("private"), open("private/public", "read")];
    const output = await run(
      "cat docs/d.txt $F/private/public/q.txt $F/private/p.txt; touch docs/x $F/private/public/x; touch y && echo written",
      rules,
    );
    expect(output).toContain("text of work/docs/d.txt\ntext of private/public/q.txt");
    expect(output).not.toContain("text of private/p.txt");
    expect(output.match(/Read-only file system/g)).toHaveLength(2);
    expect(output).toContain("written");
    expect(
      await run("touch $F/private/public/x && echo written", [
        ROOT,
        deny("private"),
        open("private/public", "write"),
      ]),
    ).toBe("written\n");
  });

  it("has the network that it says", async () => {
    const script = `perl -e 'use Socket; print socket(S, AF_INET, SOCK_STREAM, 0) ? "open" : "closed"'`;
    expect(await run(script, [ROOT])).toBe("closed");
    expect(await run(script, [ROOT], { network: true })).toBe("open");
  });

  it("[SANDBOX-8] runs nothing by a profile that is gone", async () => {
    const sandbox = createSandbox({
      platform: nodePlatform(),
      home: join(folder, "home"),
      profiles: () => new Map(),
    });
    const program = { argv: ["true"] as const, cwd: "/", env: {}, stdin: "closed" } as const;
    const policy = { type: "readOnly", networkAccess: false } as const;
    const command = { program, policy, profile: "gone", roots: [], gitWritable: false };
    await expect(sandbox.confine(command)).rejects.toThrow("there is no [permissions.gone]");
  });
});
