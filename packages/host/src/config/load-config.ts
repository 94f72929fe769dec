import { basename } from "node:path";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";
import { withinRequirements } from "./apply-requirements.ts";
import { ConfigError } from "./bad-config-error.ts";
import { type Config, readConfig } from "./config.ts";
import { TomlReader } from "./config-file.ts";
import { readNamingMistakes } from "./config-mistakes.ts";
import { configFolder } from "./home-folder.ts";
import { type Layer, mergeLayers } from "./layer.ts";
import { type LayerSources, readHomeLayers } from "./layer-files.ts";
import { REQUIREMENTS_FILE, type RequirementFiles, readRequirementFiles } from "./requirement-files.ts";
import type { Table } from "./table-reader.ts";

type MoreSources = Pick<LayerSources, "profile" | "etc">;

/** Reads the configuration of the home and the machine, with `key=value` overrides. Files of projects are not read. */
export async function loadConfig(
  files: Pick<Files, "readText">,
  home: string,
  overrides: readonly string[],
  more: MoreSources = {},
): Promise<Config> {
  return configOf(await homeFiles(files, { home, overrides, ...more }), home);
}

/** The configuration files of the home and the machine, and the requirements on them. */
export interface HomeFiles {
  readonly layers: readonly Layer[];
  readonly required: RequirementFiles;
  /** Cache of the parsed files. */
  readonly toml?: TomlReader;
}

async function homeFiles(files: Pick<Files, "readText">, sources: LayerSources): Promise<HomeFiles> {
  const toml = new TomlReader(files);
  const look = async () => true;
  const [{ above, below }, required] = await Promise.all([
    readHomeLayers(toml, sources, look),
    readRequirementFiles(toml, sources, look),
  ]);
  return { layers: [...above, ...below], required, toml };
}

/** Parses the configuration from its files. Throws a ConfigError if a value is invalid. */
export function configOf({ layers, required }: HomeFiles, home: string): Config {
  const { requirements } = required;
  const read = (table: Table) => readConfig(table, { home: configFolder(home), requirements });
  return withinRequirements(readNamingMistakes(mergeLayers(layers), read));
}

interface HostConfig {
  readonly config: Config;
  /**
   * The message about an invalid configuration file; `config` then contains only the flags, within the requirements.
   * Null if all files are valid.
   */
  readonly wrong: string | null;
  /** The files that `config` was read from; undefined if one of them is invalid. */
  readonly files: HomeFiles | undefined;
}

/**
 * Reads the configuration that a host starts with. An invalid flag throws, which ends the program with a message on
 * the terminal. An invalid file does not: if the program ended, clients could not show why. The host then runs with
 * the flags and the requirements alone, and sends `wrong` to its clients.
 */
export async function hostConfig(
  files: Pick<Files, "readText">,
  home: string,
  overrides: readonly string[],
  more: MoreSources = {},
): Promise<HostConfig> {
  try {
    const read = await homeFiles(files, { home, overrides, ...more });
    return { config: withProvider(configOf(read, home)), wrong: null, files: read };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const config = await loadConfig(requirementsIn(files), home, overrides, { ...more, profile: null })
      // If requirements.toml itself is invalid, the host runs with the flags alone.
      .catch(() => loadConfig({ readText: async () => undefined }, home, overrides))
      .then(withProvider)
      .catch(() => {
        throw cause;
      });
    return { config, wrong: cause.message, files: undefined };
  }
}

/** A view of the files in which `requirements.toml` is the only one. */
function requirementsIn(files: Pick<Files, "readText">): Pick<Files, "readText"> {
  return {
    readText: async (path, options) =>
      basename(path) === REQUIREMENTS_FILE ? files.readText(path, options) : undefined,
  };
}

/** Returns the configuration. Throws a ConfigError if the configured model provider does not exist. */
export function withProvider(config: Config): Config {
  const { modelProvider, modelProviders } = config;
  const known = [OFFLINE_MODEL, ...modelProviders.map(({ id }) => id)];
  if (known.includes(modelProvider)) return config;
  throw new ConfigError(`model_provider: "${modelProvider}" is not one of ${known.join(", ")}`);
}
