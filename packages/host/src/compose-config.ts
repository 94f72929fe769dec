import type { Config } from "./config/config.ts";
import { etcFolder } from "./config/layer-files.ts";
import { LayeredConfig } from "./config/layered-config.ts";
import type { HomeFiles } from "./config/load-config.ts";
import type { Platform } from "./platform/platform.ts";
import type { Connection } from "./server/connection.ts";
import { isHostUser } from "./server/host-user-check.ts";
import { ThreadConfigs } from "./server/thread-configs.ts";

export interface ConfigOptions {
  readonly home: string;
  readonly config: Config;
  /** Why the written configuration is invalid, if it is. Then `config` has the defaults. */
  readonly wrongConfig?: string | null;
  /** Values of `-c key=value`, which override all files. */
  readonly overrides?: readonly string[];
  /** The name of the selected profile. */
  readonly profile?: string | null;
  /** `--strict-config`: problems that are otherwise only warnings are errors. */
  readonly strictConfig?: boolean;
  /** The files from which `config` was read; undefined if it was not read from files. */
  readonly files?: HomeFiles | undefined;
}

interface ConfigParts {
  readonly platform: Platform;
  readonly connections: Iterable<Connection>;
  /** Called with a new configuration. */
  changed(config: Config): void;
}

/** Creates the configuration layers, and the configuration of each thread. */
export function composeConfig(
  options: ConfigOptions,
  { platform, connections, changed }: ConfigParts,
): { readonly layers: LayeredConfig; readonly configs: ThreadConfigs } {
  const layers = new LayeredConfig(platform.files, options.home, options.overrides ?? [], {
    profile: options.profile ?? null,
    etc: etcFolder(platform.env),
    started: options.files,
  });
  const configs = new ThreadConfigs({
    layers,
    started: options.config,
    wrong: options.wrongConfig ?? null,
    changed,
    startOnly: (keys) => warnStartOnly(connections, layers.path, keys),
  });
  return { layers, configs };
}

/** Warns the clients of the host's own user that changed keys take effect only after a restart. */
function warnStartOnly(connections: Iterable<Connection>, path: string, keys: readonly string[]): void {
  const summary = `Restart the host to apply the change of ${keys.join(", ")}.`;
  for (const connection of connections)
    if (connection.client !== undefined && isHostUser(connection.meta.principal))
      connection.notify("configWarning", { summary, details: null, path });
}
