import type { ConfigLayerSource } from "@bobbin/protocol";
import { keysOf } from "../config/edit/config-edits.ts";
import { tomlPath, tomlValue } from "../config/edit/toml-text.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { KeyWarningCheck } from "../config/key-warning-check.ts";
import type { Layer } from "../config/layer.ts";
import { etcFolder } from "../config/layer-files.ts";
import { LayeredConfig, mergeLayers, valueAt } from "../config/layered-config.ts";
import { hostConfig } from "../config/load-config.ts";
import { messageOf } from "../errors.ts";
import { nodePlatform } from "../platform/node.ts";
import { escapeControls, Output } from "./terminal-output.ts";

interface ReadOptions {
  readonly json?: boolean;
  readonly config?: readonly string[];
  readonly profile?: string;
}

/** Prints the value of a key. Resolves with the exit code. */
export async function getValue(key: string, options: ReadOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const path = keysOf(key);
  if (typeof path === "string") return fail(`${key}: ${path}`);
  const layers = await readHere(options);
  if (typeof layers === "string") return fail(layers);
  const value = valueAt(mergeLayers(layers), path);
  if (value === undefined) return fail(`${key} is not set`);
  if (options.json) stdout.line(JSON.stringify(value, null, 2));
  else stdout.line(typeof value === "string" ? value : tomlValue(value));
  await stdout.flushed();
  return 0;
}

/** Prints every value that is set. Resolves with the exit code. */
export async function listValues(options: ReadOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const layers = await readHere(options);
  if (typeof layers === "string") return fail(layers);
  const read = layers.filter(({ disabledReason }) => disabledReason === null);
  const entries = [...leavesOf(mergeLayers(read))].map(({ keys, value }) => ({
    key: tomlPath(keys),
    value: isSecret(keys) ? "*****" : value,
    origin: originOf(read.find((layer) => valueAt(layer.config, keys) !== undefined)!.name),
  }));
  if (options.json) stdout.line(JSON.stringify(entries, null, 2));
  else
    for (const { key, value, origin } of entries)
      stdout.line(
        `${escapeControls(`${key} = ${tomlValue(value)}`)}  ${stdout.dim(`# ${escapeControls(origin)}`)}`,
      );
  await stdout.flushed();
  return 0;
}

/** Prints the problems of the configuration. Resolves with the exit code. */
export async function checkConfig(options: ReadOptions): Promise<number> {
  const { config = [] } = options;
  const profile = options.profile ?? null;
  const stdout = new Output(process.stdout);
  const { files } = nodePlatform();
  const home = homeDirectory();
  const problems: string[] = [];
  try {
    const etc = etcFolder(process.env);
    const { wrong, config: used } = await hostConfig(files, home, config, { etc, profile });
    problems.push(...(wrong === null ? used.warnings : [wrong]));
  } catch (cause) {
    problems.push(messageOf(cause));
  }
  // Includes the files of the project that contains the current folder.
  const all = { files: () => layersHere(options).files(process.cwd()) };
  const warnings = await new KeyWarningCheck(all, config).read();
  problems.push(...warnings.map(({ message }) => message));
  for (const problem of problems) stdout.line(escapeControls(problem));
  if (problems.length === 0) stdout.line("The configuration is fine.");
  await stdout.flushed();
  return problems.length === 0 ? 0 : 1;
}

export async function printSchema(): Promise<number> {
  const stdout = new Output(process.stdout);
  const { configSchema } = await import("../config/keys/json-schema.ts");
  stdout.line(JSON.stringify(configSchema(), null, 2));
  await stdout.flushed();
  return 0;
}

/** Names the source of a value: a file, a folder, or the option `-c`. */
function originOf(name: ConfigLayerSource): string {
  if (name.type === "sessionFlags") return "-c";
  if (name.type === "project") return name.dotCodexFolder;
  return "file" in name ? name.file : name.type;
}

function layersHere({ config = [], profile }: ReadOptions): LayeredConfig {
  const more = { etc: etcFolder(process.env), profile: profile ?? null };
  return new LayeredConfig(nodePlatform().files, homeDirectory(), config, more);
}

/** The layers that apply in this folder, or why they cannot be read. */
async function readHere(options: ReadOptions): Promise<readonly Layer[] | string> {
  try {
    return await layersHere(options).read(process.cwd());
  } catch (cause) {
    return messageOf(cause);
  }
}

function* leavesOf(
  value: unknown,
  keys: readonly string[] = [],
): Iterable<{ readonly keys: readonly string[]; readonly value: unknown }> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    yield { keys, value };
    return;
  }
  for (const [key, inner] of Object.entries(value)) yield* leavesOf(inner, [...keys, key]);
}

/** Keys and tables whose values are usually secrets. */
const SECRET = /^(experimental_bearer_token|client_secret|http_headers|headers|env|set)$/;

function isSecret(keys: readonly string[]): boolean {
  return keys.some((key, nth) => SECRET.test(key) && (nth > 0 || keys.length > 1));
}

function fail(why: string): number {
  process.stderr.write(`bobbin: ${escapeControls(why)}\n`);
  return 1;
}
