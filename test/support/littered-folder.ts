import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Makes the folder for temporary files of a test run, below two folders full of what others leave on a machine: a real
 * repository, an empty `.git`, as the Codex CLI leaves one in `/tmp`, settings, instructions and packages. None of it
 * must reach a test. Names are short, because paths of sockets have a limit.
 */
export function litteredFolder(parent: string): { readonly folder: string; remove(): void } {
  const outer = realpathSync(mkdtempSync(join(parent, "b-")));
  const folder = join(outer, "t");
  mkdirSync(folder);
  // Some tests run programs as another user.
  chmodSync(outer, 0o755);
  chmodSync(folder, 0o1777);
  for (const place of [outer, folder]) {
    for (const name of [".codex", ".agents", ".bobbin"]) mkdirSync(join(place, name));
    writeFileSync(join(place, "AGENTS.md"), "Litter: this text must not reach any thread.\n");
    writeFileSync(join(place, "package.json"), '{"name":"litter","private":true}\n');
    writeFileSync(join(place, ".codex", "config.toml"), 'model = "litter"\n');
    writeFileSync(join(place, ".bobbin", "config.toml"), 'model = "litter"\n');
  }
  execFileSync("git", ["init", "-q", outer]);
  mkdirSync(join(folder, ".git"));
  return { folder, remove: () => rmSync(outer, { recursive: true, force: true, maxRetries: 5 }) };
}
