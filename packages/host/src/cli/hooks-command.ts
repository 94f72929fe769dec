import type { Command } from "commander";

/** Declares `bobbin hooks`, and `bobbin trust`, which trusts the rules, configuration and hooks of a project. */
export function addHooks(bobbin: Command): void {
  bobbin
    .command("trust")
    .description("Trust the rules, configuration and hooks of a project, in their current version.")
    .argument("[dir]", "a folder of the project, instead of the current one")
    .option("-n, --dry-run", "show what would be trusted, and write nothing")
    .addHelpText("after", TRUST)
    .action(async (dir: string | undefined, options: { dryRun?: boolean }, self: Command) => {
      const { trustAll } = await import("./hooks.ts");
      process.exitCode = await trustAll(dir ?? ".", { ...options, config: self.optsWithGlobals().config });
    });
  const hooks = bobbin.command("hooks").description("Show hooks, and trust the hooks of a project.");
  hooks
    .command("list")
    .description("Show the hooks of a folder, and whether they run.")
    .option("-C, --cd <dir>", "the folder, instead of the current one")
    .option("--json", "print them as JSON")
    .action(async (options: HookOptions, self: Command) => {
      const { listHooks } = await import("./hooks.ts");
      process.exitCode = await listHooks({ ...options, config: self.optsWithGlobals().config });
    });
  hooks
    .command("trust")
    .description("Trust hooks of a trusted project, in their current version.")
    .argument("[keys...]", "the keys that bobbin hooks list shows, instead of all hooks of the folder")
    .option("-C, --cd <dir>", "the folder, instead of the current one")
    .action(async (keys: string[], options: HookOptions, self: Command) => {
      const { trustHooks } = await import("./hooks.ts");
      process.exitCode = await trustHooks(keys, { ...options, config: self.optsWithGlobals().config });
    });
}

export interface HookOptions {
  readonly cd?: string;
  readonly json?: boolean;
  readonly config?: readonly string[];
}

const TRUST = `
Anyone who can write to a project can change its files, a model too. So these
files apply only in the version that you have trusted. After a change you have
to trust them again. The trust is stored in the home's config.toml, in
[projects] and [hooks.state]. To revoke it, use bobbin rules distrust.

Examples:
  bobbin trust -n                  show what would be trusted
  bobbin trust ~/work/shop
`;
