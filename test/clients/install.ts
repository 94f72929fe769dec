// Published clients are only ever a measure for tests: they are installed on demand into .cache/, never listed as a
// dependency, and a machine that cannot have them goes without, unless `BOBBIN_REQUIRE_PEER` is set.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, "../../.cache");
const PATIENCE_MS = 300_000;

/** The folder that has the packages in its node_modules, or undefined when they cannot be had. */
export async function ensureClient(name: string, packages: readonly string[]): Promise<string | undefined> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  // Under another name until it is whole: a run that is cut short leaves nothing that looks like a client.
  const draft = `${folder}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true });
    await writeFile(join(draft, "package.json"), '{"private":true}\n');
    // Optional packages are the reference program for each platform, which is what we stand in for.
    const flags = ["--no-save", "--prefer-offline", "--no-audit", "--no-fund", "--omit=optional"];
    await run("npm", ["install", ...flags, ...packages], { cwd: draft, timeout: PATIENCE_MS });
    await rename(draft, folder);
    return folder;
  } catch {
    return existsSync(folder) ? folder : undefined;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Whether there is a tmux. scripts/install-test-programs.mjs installs it. */
export async function hasTmux(): Promise<boolean> {
  return run("tmux", ["-V"]).then(
    () => true,
    () => false,
  );
}

/** Says in one line that a client is not tried, or fails where it has to be. */
export function goWithout(client: string, why: string): void {
  if (process.env.BOBBIN_REQUIRE_PEER === "1") throw new Error(`${client}: ${why}`);
  process.stderr.write(`skipped: ${client}, because ${why}\n`);
}
