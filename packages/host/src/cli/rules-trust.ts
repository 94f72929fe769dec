import { resolve } from "node:path";
import { homeDirectory } from "../config/home-folder.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { trustedFiles } from "../config/project-layers.ts";
import { nodePlatform } from "../platform/node.ts";
import { openRulesStore } from "./open-rules-store.ts";
import { ruleLines } from "./rules.ts";
import { storeProjectTrust } from "./store-project-trust.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Stores that the project's current rules and configuration are trusted. Resolves with the exit code. */
export async function trustProject(dir: string, config: readonly string[] = []): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects } = await loadConfig(platform.files, home, config);
  const found = await openRulesStore(home, platform, projects).load(resolve(dir));
  const { root, digest, isTrusted } = found.project!;
  const layers = await new LayeredConfig(platform.files, home, config).read(resolve(dir));
  const files = trustedFiles(root, layers);
  if (digest === null && Object.keys(files).length === 0) {
    stdout.line(`\n  ${escapeControls(root)} has no rules and no configuration.\n`);
  } else if (isTrusted && layers.every(({ disabledReason }) => disabledReason === null)) {
    stdout.line(`\n  The rules and the configuration of ${escapeControls(root)} are trusted already.\n`);
  } else {
    await storeProjectTrust(platform, home, root, "trusted", { rules: digest, files });
    // Lists the rules with the new trust.
    const trusted = new Map(projects).set(root, { level: "trusted", rules: digest });
    const listed = await openRulesStore(home, platform, trusted).list(resolve(dir));
    const own = listed.commands.filter(({ file }) => file.startsWith(root));
    const hosts = listed.hosts.filter(({ file }) => file.startsWith(root));
    if (digest !== null) stdout.write(ruleLines({ ...listed, commands: own, hosts }, home, stdout));
    for (const file of Object.keys(files)) stdout.line(`  ${escapeControls(file)}`);
    stdout.line(`  These files of ${escapeControls(root)} are trusted now, until one changes.\n`);
  }
  await stdout.flushed();
  return 0;
}

/** Stores that a project is not trusted. Resolves with the exit code. */
export async function distrustProject(dir: string, config: readonly string[] = []): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects } = await loadConfig(platform.files, home, config);
  const found = await openRulesStore(home, platform, projects).load(resolve(dir));
  const { root } = found.project!;
  await storeProjectTrust(platform, home, root, "untrusted");
  stdout.line(`\n  ${escapeControls(root)} is not trusted now: what its rules allow does not count.\n`);
  await stdout.flushed();
  return 0;
}
