import type { Platform } from "../platform/platform.ts";
import type { ConfigFile } from "./config-value-import.ts";
import type { Scope } from "./import-scope.ts";

/** The agents that can be imported from. */
export type SourceName = "claude" | "codex";

/** Parses the source that a client names. Unknown names mean Claude Code. */
export function sourceNamed(migrationSource: string | null | undefined): SourceName {
  return migrationSource?.toLowerCase() === "codex" ? "codex" : "claude";
}

export interface SourcePorts {
  readonly home: string;
  readonly platform: Platform;
  /** The `config.toml` of a scope. */
  configFile(scope: Scope): ConfigFile;
}
