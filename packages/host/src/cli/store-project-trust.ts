import type { ConfigEditBatch } from "../config/edit/config-writer.ts";
import type { Platform } from "../platform/platform.ts";
import type { TrustLevel } from "../tool/consent/project-rules.ts";
import { projectKey } from "../tool/consent/project-trust-lookup.ts";
import { openHomeConfig } from "./home-config.ts";

/** The trusted files of a project, by digest. The trust applies only to this version of the files. */
interface TrustedContent {
  /** The digest of the project's rules; null if they are not trusted, or there are none. */
  readonly rules?: string | null;
  /** The digests of the project's config files, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The digests of the project's hooks, by key. */
  readonly hooks?: Readonly<Record<string, string>>;
}

/** Writes to config.toml whether the user trusts a project, and which versions of its files are trusted. */
export async function storeProjectTrust(
  platform: Pick<Platform, "files" | "liveness" | "env">,
  home: string,
  root: string,
  level: TrustLevel,
  { rules = null, files = {}, hooks = {} }: TrustedContent = {},
): Promise<void> {
  const value = {
    trust_level: level,
    ...(rules !== null && { trusted_rules: rules }),
    ...(Object.keys(files).length > 0 && { trusted_files: files }),
  };
  const project = { keyPath: projectKey(root), value, mergeStrategy: "upsert" } as const;
  await openHomeConfig(platform, home).writer.write({ edits: [project, ...hookEdits(hooks)] });
}

/** Writes to config.toml that hooks are trusted, by their keys and digests. */
export async function rememberHooks(
  platform: Pick<Platform, "files" | "liveness" | "env">,
  home: string,
  hooks: Readonly<Record<string, string>>,
): Promise<void> {
  await openHomeConfig(platform, home).writer.write({ edits: hookEdits(hooks) });
}

function hookEdits(hooks: Readonly<Record<string, string>>): ConfigEditBatch["edits"] {
  return Object.entries(hooks).map(([key, digest]) => ({
    keyPath: `hooks.state."${key.replaceAll(/["\\]/g, "\\$&")}".trusted_hash`,
    value: digest,
    mergeStrategy: "replace",
  }));
}
