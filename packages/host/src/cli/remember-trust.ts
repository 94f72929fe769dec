import { ConfigLayers } from "../catalog/config-layers.ts";
import { ConfigWriter } from "../catalog/config-writer.ts";
import type { Files } from "../platform/platform.ts";
import type { TrustLevel } from "../tool/project-rules.ts";
import { projectKey } from "../tool/project-trust.ts";

/** Writes to config.toml what a person said about a project. `rules`: the digest of the rules that are trusted. */
export async function rememberTrust(
  files: Files,
  home: string,
  root: string,
  level: TrustLevel,
  rules: string | null,
): Promise<void> {
  const writer = new ConfigWriter(files, new ConfigLayers(files, home, []));
  const value = { trust_level: level, ...(rules !== null && { trusted_rules: rules }) };
  await writer.write({ edits: [{ keyPath: projectKey(root), value, mergeStrategy: "upsert" }] });
}
