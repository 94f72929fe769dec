import { ConfigWriter } from "../config/edit/config-writer.ts";
import { etcFolder } from "../config/layer-files.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import type { Platform } from "../platform/platform.ts";

interface HomeConfig {
  readonly layers: LayeredConfig;
  /** Writes config.toml, within the requirements of the machine and the home. */
  readonly writer: ConfigWriter;
}

/** Opens the configuration of the home and the machine, for commands that change config.toml. */
export function openHomeConfig(
  platform: Pick<Platform, "files" | "liveness" | "env">,
  home: string,
): HomeConfig {
  const layers = new LayeredConfig(platform.files, home, [], { etc: etcFolder(platform.env) });
  return { layers, writer: new ConfigWriter(platform, layers) };
}
