import { relative, resolve } from "node:path";
import { homeDirectory } from "../config/home-folder.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { trustedFiles } from "../config/project-layers.ts";
import { messageOf } from "../errors.ts";
import { type ConfiguredHook, type FoundHooks, hookMetadata, mayRunHook } from "../hooks/configured-hooks.ts";
import { EVENTS } from "../hooks/hook-events.ts";
import { nodePlatform } from "../platform/node.ts";
import { trustIn } from "../tool/consent/project-trust-lookup.ts";
import { findFolderHooks } from "./folder-hooks.ts";
import type { HookOptions } from "./hooks-command.ts";
import { openRulesStore } from "./open-rules-store.ts";
import { ruleLines } from "./rules.ts";
import { rememberHooks, storeProjectTrust } from "./store-project-trust.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Shows the hooks of a folder. Resolves with the exit code. */
export async function listHooks({ cd = ".", json, config = [] }: HookOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const found = await findFolderHooks(nodePlatform(), homeDirectory(), config, resolve(cd));
  const { hooks, warnings, errors } = found;
  if (json) stdout.line(JSON.stringify({ hooks: hooks.map(hookMetadata), warnings, errors }, null, 2));
  else stdout.write(listing(found, stdout));
  await stdout.flushed();
  return errors.length === 0 ? 0 : 1;
}

function listing({ hooks, warnings, errors }: FoundHooks, stdout: Output): string {
  const problems = [...warnings, ...errors.map(({ path, message }) => `${path}: ${message}`)];
  const lines = [
    ...hooks.flatMap((hook) => hookLines(hook, stdout)),
    ...problems.map((problem) => `  ${stdout.red(escapeControls(problem))}`),
    ...(hooks.some(isWithheld) ? [`  ${stdout.yellow("Some hooks are not trusted as they are now.")}`] : []),
    ...(hooks.some(isWithheld)
      ? ["    → bobbin hooks trust; where the project is not trusted, bobbin trust"]
      : []),
  ];
  return lines.length === 0 ? "\n  There are no hooks.\n\n" : `\n${lines.join("\n")}\n\n`;
}

function hookLines(hook: ConfiguredHook, stdout: Output): readonly string[] {
  const { event, matcher, command, key } = hook;
  const what = `${EVENTS[event].name}${matcher === null ? "" : ` ${matcher}`}`;
  return [
    `  ${state(hook, stdout)}  ${stdout.bold(escapeControls(what))}  ${escapeControls(command)}`,
    `             ${stdout.dim(escapeControls(key))}`,
  ];
}

function state(hook: ConfiguredHook, stdout: Output): string {
  const word = (text: string): string => text.padEnd("untrusted".length);
  if (!hook.enabled) return stdout.dim(word("off"));
  if (mayRunHook(hook)) return stdout.green(word(hook.trust === "managed" ? "required" : "runs"));
  return stdout.yellow(word(hook.trust === "modified" ? "changed" : "untrusted"));
}

function isWithheld({ source, trust }: ConfiguredHook): boolean {
  return source === "project" && trust !== "trusted";
}

function digestsOf(hooks: readonly ConfiguredHook[]): Readonly<Record<string, string>> {
  return Object.fromEntries(hooks.map(({ key, digest }) => [key, digest]));
}

/** Stores that hooks of a project are trusted in their current version. Resolves with the exit code. */
export async function trustHooks(
  keys: readonly string[],
  { cd = ".", config = [] }: HookOptions,
): Promise<number> {
  const stdout = new Output(process.stdout);
  const platform = nodePlatform();
  const home = homeDirectory();
  const cwd = resolve(cd);
  const { projects } = await loadConfig(platform.files, home, config);
  if ((await trustIn(platform.files, cwd, projects)) !== "trusted")
    return fail(`${cwd} is in no trusted project, so its hooks do not run. Run: bobbin trust ${cwd}`);
  const { hooks } = await findFolderHooks(platform, home, config, cwd);
  const withheld = hooks.filter(isWithheld);
  const unknown = keys.find((key) => !hooks.some((hook) => hook.source === "project" && hook.key === key));
  if (unknown !== undefined) return fail(`no project has a hook ${unknown} here; see bobbin hooks list`);
  const chosen = keys.length === 0 ? withheld : withheld.filter(({ key }) => keys.includes(key));
  if (chosen.length === 0) stdout.line("\n  There are no hooks that are not trusted.\n");
  else {
    await rememberHooks(platform, home, digestsOf(chosen));
    const trusted = chosen.map((hook): ConfiguredHook => ({ ...hook, trust: "trusted" }));
    stdout.write(`\n${trusted.flatMap((hook) => hookLines(hook, stdout)).join("\n")}\n\n`);
  }
  await stdout.flushed();
  return 0;
}

/** Stores that a project's rules, configuration and hooks are trusted in their current version. Resolves with the exit code. */
export async function trustAll(
  dir: string,
  { dryRun = false, config = [] }: { readonly dryRun?: boolean; readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const cwd = resolve(dir);
  const { projects } = await loadConfig(platform.files, home, config);
  const { project } = await openRulesStore(home, platform, projects).load(cwd);
  const { root, digest } = project!;
  const files = trustedFiles(root, await new LayeredConfig(platform.files, home, config).read(cwd));
  const { hooks, errors } = await findFolderHooks(platform, home, config, cwd);
  const own = hooks.filter(({ source }) => source === "project");
  // The rules are listed as they apply once the project is trusted.
  const trusted = new Map(projects).set(root, { level: "trusted", rules: digest });
  const listed = await openRulesStore(home, platform, trusted).list(cwd);
  const isOwn = ({ file }: { readonly file: string }): boolean => file.startsWith(root);
  const rules = { ...listed, commands: listed.commands.filter(isOwn), hosts: listed.hosts.filter(isOwn) };
  if (digest !== null) stdout.write(ruleLines(rules, home, stdout));
  for (const file of Object.keys(files)) stdout.line(`  configuration  ${escapeControls(file)}`);
  for (const { event, command, sourcePath } of own)
    stdout.line(
      `  hook  ${EVENTS[event].name}  ${escapeControls(command)}  ${stdout.dim(escapeControls(relative(root, sourcePath)))}`,
    );
  for (const { path, message } of errors)
    stdout.line(`  ${stdout.red(escapeControls(`${path}: ${message}`))}`);
  const isEmpty = digest === null && own.length === 0 && Object.keys(files).length === 0;
  const what = isEmpty
    ? "It has no rules, no configuration and no hooks."
    : "What is listed here counts until it changes.";
  if (dryRun) stdout.line(`  ${escapeControls(root)} would be trusted. ${what}`);
  else {
    try {
      await storeProjectTrust(platform, home, root, "trusted", {
        rules: digest,
        files,
        hooks: digestsOf(own),
      });
    } catch (cause) {
      return fail(messageOf(cause));
    }
    stdout.line(`  ${escapeControls(root)} is trusted now. ${what}`);
  }
  await stdout.flushed();
  return 0;
}

function fail(why: string): number {
  process.stderr.write(`bobbin: ${escapeControls(why)}\n`);
  return 1;
}
