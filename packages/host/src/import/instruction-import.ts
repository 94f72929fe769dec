import { dirname } from "node:path";
import type { Platform } from "../platform/platform.ts";
import type { Scope } from "./import-scope.ts";
import type { Planner } from "./pending-import.ts";
import type { TargetPaths } from "./source-and-target-paths.ts";
import { hasText, readText, withOwnFileNames, writeText } from "./text-files.ts";

export interface InstructionPorts {
  readonly platform: Pick<Platform, "files" | "workspace">;
  targets(scope: Scope): TargetPaths;
  /** Candidates for the instructions. The first file that is not empty is used. */
  sources(scope: Scope): readonly string[];
}

/** Imports instructions as `AGENTS.md`, unless a non-empty one exists. */
export function instructionPlanner({ platform, targets, sources }: InstructionPorts): Planner {
  const { files } = platform;
  const itemType = "AGENTS_MD";
  return {
    itemType,
    async plan(scope) {
      const { agentsMd } = targets(scope);
      const source = await firstWithText(sources(scope), (path) => hasText(files, path));
      if (source === undefined || source === agentsMd || (await hasText(files, agentsMd))) return undefined;
      return {
        itemType,
        description: `Migrate ${source} to ${agentsMd}`,
        details: null,
        async run(report) {
          const text = withOwnFileNames((await readText(files, source)) ?? "");
          await writeText(platform, dirname(agentsMd), agentsMd, text);
          report.success(source, agentsMd);
        },
      };
    },
  };
}

async function firstWithText(
  paths: readonly string[],
  isTaken: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const path of paths) if (await isTaken(path)) return path;
  return undefined;
}
