import { dirname, join } from "node:path";
import { ConfigError } from "./bad-config-error.ts";
import { configPath, type TomlFile, type TomlReader } from "./config-file.ts";
import { checkRequiredHooks, readRequiredHooks } from "./hook-requirements.ts";
import { mergeTables } from "./layer.ts";
import { type HasFolder, type LayerSources, systemFolders } from "./layer-files.ts";
import { NO_REQUIREMENTS, type Requirements } from "./requirements.ts";
import type { readRequirements } from "./requirements-reader.ts";
import type { Table } from "./table-reader.ts";

export const REQUIREMENTS_FILE = "requirements.toml";

/** All `requirements.toml` files, and their requirements combined. */
export interface RequirementFiles {
  readonly files: readonly Pick<TomlFile, "file" | "text">[];
  readonly requirements: Requirements;
}

/**
 * Reads the `requirements.toml` of the machine, which takes precedence, and that of the home. Files in `/etc` always
 * apply: `BOBBIN_ETC` can add a folder, but cannot replace `/etc`.
 */
export async function readRequirementFiles(
  toml: TomlReader,
  { home, etc }: Pick<LayerSources, "home" | "etc">,
  hasFolder: HasFolder,
): Promise<RequirementFiles> {
  const places = [systemFolders(), systemFolders(etc), [dirname(configPath(home))]];
  const folders = [...new Set(places.flat())];
  const read = await Promise.all(
    folders.map(async (folder) =>
      (await hasFolder(folder)) ? toml.read(join(folder, REQUIREMENTS_FILE)) : undefined,
    ),
  );
  const files = read.filter((one) => one !== undefined);
  if (files.length === 0) return { files, requirements: NO_REQUIREMENTS };
  // The reader is loaded only if there is a requirements.toml, so that all other starts of the program are faster.
  const { readRequirements } = await import("./requirements-reader.ts");
  for (const file of files) check(file, readRequirements);
  // Files of the machine come first in the list, and override those of the home.
  const table = files.map((one) => one.table).reduceRight(merged, {});
  const hooks = readRequiredHooks(files, places);
  return { files, requirements: { ...readRequirements(table), hooks } };
}

/**
 * Tables that list what is allowed. They are not merged, because the union of two lists would allow more than either
 * list.
 */
const WHOLE = ["mcp_servers", "experimental_network"];

function merged(below: Table, above: Table): Table {
  const whole = WHOLE.filter((key) => above[key] !== undefined).map((key) => [key, above[key]]);
  return { ...mergeTables(below, above), ...Object.fromEntries(whole) };
}

function check({ file, table }: TomlFile, read: typeof readRequirements): void {
  try {
    read(table);
    checkRequiredHooks(table);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new ConfigError(`${file}: ${cause.message}`, { cause });
  }
}
