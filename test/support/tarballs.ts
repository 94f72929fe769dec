// Builds the packages as they are published, and projects that have them installed.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { atFileEnd } from "./file-end.ts";
import { ROOT } from "./markdown.ts";

const run = promisify(execFile);

let packing: Promise<string> | undefined;
const folders: string[] = [];
atFileEnd(async () => {
  packing = undefined;
  await Promise.all(folders.splice(0).map((one) => rm(one, { recursive: true, force: true, maxRetries: 5 })));
});

async function folder(name: string): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), `bobbin-${name}-`));
  folders.push(made);
  return made;
}

/** A folder with the four tarballs. They are made once per test file, from the dist/ that was built for the tests. */
export function tarballs(): Promise<string> {
  packing ??= (async () => {
    const made = await folder("tarballs");
    await run(process.execPath, ["scripts/pack.mjs", "--no-build", made], { cwd: ROOT });
    return made;
  })();
  return packing;
}

export type PackageName = "bobbin" | "@bobbin/client" | "@bobbin/protocol" | "@bobbin/rap";

/** The tarball of a package. */
export async function tarballOf(name: PackageName): Promise<string> {
  const made = await tarballs();
  const start = name.replace("@", "").replace("/", "-");
  const file = (await readdir(made)).find((one) => new RegExp(`^${start}-\\d`).test(one));
  if (file === undefined) throw new Error(`there is no tarball of ${name}`);
  return join(made, file);
}

/** Creates an empty project, and installs packages from their tarballs and others from the registry. */
export async function projectWith(
  names: readonly PackageName[],
  others: readonly string[] = [],
): Promise<string> {
  const project = await folder("project");
  await writeFile(join(project, "package.json"), '{"private":true,"type":"module"}\n');
  const files = await Promise.all(names.map(tarballOf));
  // Install scripts are only needed by packages without prebuilt native parts.
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  await run("npm", ["install", ...flags, ...files, ...others], { cwd: project });
  return project;
}
