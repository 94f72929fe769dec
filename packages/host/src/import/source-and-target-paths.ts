import { join } from "node:path";
import type { Platform } from "../platform/platform.ts";
import type { Scope } from "./import-scope.ts";

/** Paths that an import writes to, by scope. */
export interface TargetPaths {
  readonly agentsMd: string;
  /** Folder of `config.toml`, `hooks.json`, `hooks/` and `agents/`. */
  readonly configFolder: string;
  /** Folder of the skills that all agents share. */
  readonly skills: string;
}

export function targetPaths(home: string, userHome: string, scope: Scope): TargetPaths {
  if (scope.kind === "home")
    return {
      agentsMd: join(home, "AGENTS.md"),
      configFolder: home,
      skills: join(userHome, ".agents", "skills"),
    };
  const { root } = scope;
  return {
    agentsMd: join(root, "AGENTS.md"),
    configFolder: join(root, ".codex"),
    skills: join(root, ".agents", "skills"),
  };
}

/** Paths of Claude Code's files. */
export interface ClaudePaths {
  /** `~/.claude`, or the folder in CLAUDE_CONFIG_DIR. */
  readonly home: string;
  /** Path of `.claude.json`, which contains the MCP servers of the user and of each project. */
  readonly userFile: string;
}

export function claudePaths({ env, machine }: Pick<Platform, "env" | "machine">): ClaudePaths {
  const chosen = env["CLAUDE_CONFIG_DIR"];
  if (chosen) return { home: chosen, userFile: join(chosen, ".claude.json") };
  return { home: join(machine.userHome, ".claude"), userFile: join(machine.userHome, ".claude.json") };
}

/** Folder of the Codex CLI: `$CODEX_HOME`, else `~/.codex`. */
export function codexHome({ env, machine }: Pick<Platform, "env" | "machine">): string {
  return env["CODEX_HOME"] || join(machine.userHome, ".codex");
}
