import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { freshFolder } from "./folder.ts";
import { ROOT } from "./markdown.ts";

const LEFT_OUT = new Set(["node_modules", "dist", ".git", ".cache"]);

/**
 * Copies the project, so that its sources can be changed. The copy shares the installed packages, but not the
 * project's own ones.
 */
export async function copyOfProject(): Promise<string> {
  const root = await freshFolder("copy");
  await cp(ROOT, root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  const installed = join(root, "node_modules");
  await mkdir(join(installed, "@bobbin"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    if (name !== "@bobbin") await symlink(join(ROOT, "node_modules", name), join(installed, name));
  }
  for (const name of await readdir(join(ROOT, "packages")))
    await symlink(join(root, "packages", name), join(installed, "@bobbin", name));
  await symlink(join(ROOT, ".cache"), join(root, ".cache"));
  return root;
}
