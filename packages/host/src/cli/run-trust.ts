import { resolve } from "node:path";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { nodePlatform } from "../platform/node.ts";
import { RulesStore } from "../tool/rules-store.ts";
import { rememberTrust } from "./remember-trust.ts";
import { ruleLines } from "./run-rules.ts";
import { harmless, Output } from "./terminal.ts";

/** Lets the rules of a project count as they are now. Resolves with the exit code. */
export async function trustProject(dir: string, config: readonly string[] = []): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects } = await loadConfig(platform.files, home, config);
  const found = await new RulesStore(home, { ...platform, projects: () => projects }).load(resolve(dir));
  const { root, digest, isTrusted } = found.project!;
  if (digest === null) {
    stdout.line(`\n  ${harmless(root)} has no rules.\n`);
  } else if (isTrusted) {
    stdout.line(`\n  The rules of ${harmless(root)} are trusted already.\n`);
  } else {
    await rememberTrust(platform.files, home, root, "trusted", digest);
    // As they count from now on.
    const trusted = new Map(projects).set(root, { level: "trusted", rules: digest });
    const listed = await new RulesStore(home, { ...platform, projects: () => trusted }).list(resolve(dir));
    const own = listed.commands.filter(({ file }) => file.startsWith(root));
    const hosts = listed.hosts.filter(({ file }) => file.startsWith(root));
    stdout.write(ruleLines({ ...listed, commands: own, hosts }, home, stdout));
    stdout.line(`  These rules of ${harmless(root)} are trusted now, until a file changes.\n`);
  }
  await stdout.flushed();
  return 0;
}

/** Remembers that a project is not trusted. Resolves with the exit code. */
export async function distrustProject(dir: string, config: readonly string[] = []): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects } = await loadConfig(platform.files, home, config);
  const found = await new RulesStore(home, { ...platform, projects: () => projects }).load(resolve(dir));
  const { root } = found.project!;
  await rememberTrust(platform.files, home, root, "untrusted", null);
  stdout.line(`\n  ${harmless(root)} is not trusted now: what its rules allow does not count.\n`);
  await stdout.flushed();
  return 0;
}
