import { ConfigError } from "../config/bad-config-error.ts";
import { KeyWarningCheck } from "../config/key-warning-check.ts";
import type { LayerSources } from "../config/layer-files.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import type { Files } from "../platform/platform.ts";

/**
 * Implements `--strict-config`: throws a ConfigError for problems that are otherwise only warnings. `wrong`: why the
 * configuration is invalid; null if it is valid.
 */
export async function rejectInvalidConfig(
  files: Files,
  { home, overrides, ...more }: LayerSources,
  wrong: string | null = null,
): Promise<void> {
  if (wrong !== null) throw new ConfigError(wrong);
  const layers = new LayeredConfig(files, home, overrides, more);
  const warnings = await new KeyWarningCheck(layers, overrides).read();
  if (warnings.length > 0) throw new ConfigError(warnings.map(({ message }) => message).join("\n"));
}
