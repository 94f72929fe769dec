import { dirname, join, resolve } from "node:path";
import type { ConfigLayerSource } from "@bobbin/protocol";
import { ConfigError } from "./bad-config-error.ts";
import { CONFIG_FILE, configPath, type TomlFile, type TomlReader } from "./config-file.ts";
import { isTable, Layer } from "./layer.ts";
import { readOverride, set } from "./overrides.ts";
import type { Table } from "./table-reader.ts";

/** Sources of the configuration layers that do not depend on a project. */
export interface LayerSources {
  readonly home: string;
  /** `key=value` texts of `-c`. */
  readonly overrides: readonly string[];
  /** `NAME` of `NAME.config.toml` in the home; null for none. */
  readonly profile?: string | null;
  /** Folder with the machine's configuration; `/etc` by default. */
  readonly etc?: string;
}

/** Returns the folder with the machine's configuration. Tests and containers set `BOBBIN_ETC`. */
export function etcFolder(env: Readonly<Record<string, string | undefined>>): string {
  return env["BOBBIN_ETC"] || "/etc";
}

/** Folders with configuration for all users of the machine, the one with the highest precedence first. */
export function systemFolders(etc = "/etc"): readonly string[] {
  return [join(etc, "bobbin"), join(etc, "codex")];
}

/** Checks whether a folder exists, so that files in a missing folder need not be looked up. */
export type HasFolder = (path: string) => Promise<boolean>;

interface HomeLayers {
  /** The layers above the user's file: `-c` options, then the profile. */
  readonly above: readonly Layer[];
  /** The user's file, then the files of the machine. */
  readonly below: readonly Layer[];
}

/** Reads the layers that do not depend on a project. `userText` replaces the text of the user's file. */
export async function readHomeLayers(
  toml: TomlReader,
  sources: LayerSources,
  hasFolder: HasFolder,
  userText?: { readonly text: string | undefined },
): Promise<HomeLayers> {
  const { home, overrides, profile = null } = sources;
  const [user, chosen, ...system] = await Promise.all([
    readUser(toml, home, userText),
    profile === null ? null : readProfile(toml, home, profile),
    ...systemFolders(sources.etc).map((folder) => readSystem(toml, folder, hasFolder)),
  ]);
  const flags = overrides.length === 0 ? [] : [await flagLayer(overrides)];
  return {
    above: [...flags, ...(chosen === null ? [] : [chosen])],
    below: [user, ...system.filter((one) => one !== null)],
  };
}

async function readUser(
  toml: TomlReader,
  home: string,
  replacement: { readonly text: string | undefined } | undefined,
): Promise<Layer> {
  const file = configPath(home);
  const name: ConfigLayerSource = { type: "user", file, profile: null };
  const read = replacement === undefined ? await toml.read(file) : await parsed(toml, file, replacement.text);
  return layerOf(name, file, read);
}

const parsed = async (toml: TomlReader, file: string, text: string | undefined) =>
  text === undefined ? undefined : toml.parse(file, text);

async function readProfile(toml: TomlReader, home: string, profile: string): Promise<Layer> {
  if (!/^[\w-]+$/.test(profile))
    throw new ConfigError(
      `--profile ${profile}: a profile's name has letters, digits, hyphens and underscores only`,
    );
  const file = join(dirname(configPath(home)), `${profile}.${CONFIG_FILE}`);
  const read = await toml.read(file);
  if (read === undefined) throw new ConfigError(`--profile ${profile}: there is no ${file}`);
  return layerOf({ type: "user", file, profile }, file, read);
}

async function readSystem(toml: TomlReader, folder: string, hasFolder: HasFolder): Promise<Layer | null> {
  if (!(await hasFolder(folder))) return null;
  const file = join(folder, CONFIG_FILE);
  const read = await toml.read(file);
  if (read === undefined) return null;
  const table = withAbsolutePaths(read.table, folder);
  return new Layer({ name: { type: "system", file }, file, text: read.text, table });
}

/**
 * Makes a layer from a file in the home. Its relative paths are not changed here; they are resolved against the home
 * later.
 */
function layerOf(name: ConfigLayerSource, file: string, read: TomlFile | undefined): Layer {
  return new Layer({ name, file, text: read?.text, table: read?.table ?? {} });
}

async function flagLayer(overrides: readonly string[]): Promise<Layer> {
  const { parse } = await import("@decimalturn/toml-patch");
  const table: Record<string, unknown> = {};
  for (const override of overrides) set(table, ...readOverride(override, parse));
  return new Layer({ name: { type: "sessionFlags" }, file: null, table });
}

/** Keys whose values are paths relative to the folder of their file. `*` matches any key. */
const PATHS: readonly (readonly string[])[] = [
  ["model_instructions_file"],
  ["sandbox_workspace_write", "writable_roots"],
  ["agents", "*", "config_file"],
];

/** Makes the paths in a table absolute, so that they keep their meaning when tables are merged. */
export function withAbsolutePaths(table: Table, folder: string): Table {
  return PATHS.reduce((now, path) => withPath(now, path, folder), table);
}

function withPath(table: Table, [key, ...rest]: readonly string[], folder: string): Table {
  const names = key === "*" ? Object.keys(table) : Object.hasOwn(table, key!) ? [key!] : [];
  const changed = names.flatMap((name): [string, unknown][] => {
    const value = table[name];
    if (rest.length > 0) return isTable(value) ? [[name, withPath(value, rest, folder)]] : [];
    return [[name, absolute(value, folder)]];
  });
  return changed.length === 0 ? table : { ...table, ...Object.fromEntries(changed) };
}

function absolute(value: unknown, folder: string): unknown {
  if (typeof value === "string") return resolve(folder, value);
  return Array.isArray(value) ? value.map((one) => absolute(one, folder)) : value;
}
