import { dirname, join } from "node:path";
import { CONFIG_FILE, configPath } from "../config/config-file.ts";
import type { Layer } from "../config/layer.ts";
import type { ConfigSnapshot, LayeredConfig } from "../config/layered-config.ts";

/** Path that stands for the command line, as in the Codex CLI. */
const FLAGS = "/<session-flags>/config.toml";

interface HookLayer {
  readonly source: "system" | "user" | "sessionFlags";
  readonly path: string;
  readonly folder: string | null;
  readonly table: unknown;
}

interface HookConfiguration {
  readonly below: readonly HookLayer[];
  readonly above: readonly HookLayer[];
  readonly required: readonly { readonly file: string; readonly table: unknown }[];
  readonly onlyFrom: readonly string[] | null;
}

/**
 * Returns the `[hooks]` tables outside of projects, the layer with the lowest precedence first. Unlike other values,
 * the hooks of one layer do not replace those of another.
 */
export function hookLayers(
  { systemFolders, home }: Pick<LayeredConfig, "systemFolders" | "home">,
  { layers, required }: Pick<ConfigSnapshot, "layers" | "required">,
): HookConfiguration {
  const { tables, onlyFrom } = required.requirements.hooks;
  const of = (path: string): unknown => layers.find(({ file }) => file === path)?.config["hooks"];
  const system = systemFolders.map((folder): HookLayer => {
    const path = join(folder, CONFIG_FILE);
    return { source: "system", path, folder, table: of(path) };
  });
  const path = configPath(home);
  const user: HookLayer = { source: "user", path, folder: dirname(path), table: of(path) };
  return {
    below: [...system.reverse(), user],
    above: layers.flatMap(above).reverse(),
    required: tables,
    onlyFrom,
  };
}

/** Returns the hooks of the profile and of the command line, which take precedence over project files. */
function above({ name, file, config }: Layer): readonly HookLayer[] {
  const table = config["hooks"];
  if (name.type === "sessionFlags") return [{ source: "sessionFlags", path: FLAGS, folder: null, table }];
  const isProfile = name.type === "user" && name.profile !== null;
  return isProfile ? [{ source: "user", path: file!, folder: null, table }] : [];
}
