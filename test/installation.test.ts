// A fresh clone installs with `npm ci`, on every platform that a package names.
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

const root = join(import.meta.dirname, "..");

interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Machine {
  readonly platform: string;
  readonly arch: string;
}

const packages = await lockedPackages(root);

describe("the lockfile", () => {
  it("[INSTALL-1] has an entry for every platform's optional packages", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => resolutionOf(name, path) === undefined)
        .map((name) => `${path} → ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("names no registry", () => {
    const hosts = Object.values(packages).filter(({ resolved }) => resolved?.includes("://"));
    expect(hosts).toEqual([]);
  });

  it("[INSTALL-1] is accepted by npm ci without the network", async () => {
    const folder = await manifestsOnly();
    await expect(npmCi(folder)).resolves.toMatchObject({ stdout: expect.stringContaining("added") });
  });

  it("would be refused by npm ci if one platform's package were missing", async () => {
    const folder = await manifestsOnly();
    const lock = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
    delete lock.packages["node_modules/@esbuild/win32-x64"];
    await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
    await expect(npmCi(folder)).rejects.toMatchObject({
      stderr: expect.stringContaining("Missing: @esbuild/win32-x64"),
    });
  });
});

describe("the preparation", () => {
  const linux = { platform: "linux", arch: "x64" };

  it("leaves a complete installation of this platform unchanged", async () => {
    expect(await judge(packagesOn(linux), linux)).toBe(true);
  });

  it("installs again if the installation is missing or incomplete", async () => {
    expect(await judge(undefined, linux)).toBe(false);
  });

  it("installs again when a package is missing, differs, or is left over", async () => {
    const { "node_modules/ws": ws, ...others } = packagesOn(linux);
    expect(await judge(others, linux)).toBe(false);
    expect(await judge({ ...others, "node_modules/ws": { ...ws, integrity: "sha512-other" } }, linux)).toBe(
      false,
    );
    expect(await judge({ ...packagesOn(linux), "node_modules/left-over": {} }, linux)).toBe(false);
  });

  it("installs again in a tree that was copied from another platform", async () => {
    expect(await judge(packagesOn(linux), { platform: "darwin", arch: "arm64" })).toBe(false);
  });
});

async function lockedPackages(folder: string): Promise<Record<string, Entry>> {
  return JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")).packages;
}

/** The entry that Node would find for a package that another one imports. */
function resolutionOf(name: string, from: string): Entry | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in packages || folder === "") return packages[path];
  }
}

/** A folder with the manifests alone, which is all that npm needs to judge them. */
async function manifestsOnly(): Promise<string> {
  const folder = await freshFolder("clone");
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    await cp(join(root, name), join(folder, name));
  for (const name of await readdir(join(root, "packages"))) {
    await mkdir(join(folder, "packages", name), { recursive: true });
    await cp(join(root, "packages", name, "package.json"), join(folder, "packages", name, "package.json"));
  }
  return folder;
}

function npmCi(folder: string) {
  const args = ["ci", "--dry-run", "--offline", "--cache", join(folder, "cache")];
  // What npm prints depends on the npm that runs the tests.
  const env = { ...process.env, npm_config_loglevel: "notice" };
  return promisify(execFile)("npm", args, { cwd: folder, env, shell: process.platform === "win32" });
}

/** What npm records as installed on a machine. */
function packagesOn({ platform, arch }: Machine): Record<string, Entry> {
  return Object.fromEntries(
    Object.entries(packages).filter(
      ([path, { os = [platform], cpu = [arch] }]) =>
        path.startsWith("node_modules/") && os.includes(platform) && cpu.includes(arch),
    ),
  );
}

async function judge(installed: Record<string, Entry> | undefined, machine: Machine) {
  const { isInstalled } = await import(new URL("../scripts/installed-packages.mjs", import.meta.url).href);
  const folder = await freshFolder("clone");
  await cp(join(root, "package-lock.json"), join(folder, "package-lock.json"));
  await mkdir(join(folder, "node_modules"));
  if (installed !== undefined) {
    const record = JSON.stringify({ packages: installed });
    await writeFile(join(folder, "node_modules/.package-lock.json"), record);
  }
  return isInstalled(folder, machine);
}
