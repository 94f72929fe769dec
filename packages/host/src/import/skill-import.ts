import { join } from "node:path";
import { messageOf } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { copyFolder } from "./copy-folder.ts";
import type { Scope } from "./import-scope.ts";
import { details, named, type Planner } from "./pending-import.ts";

export interface SkillPorts {
  readonly platform: Pick<Platform, "files" | "workspace">;
  /** Folders of skills: the other agent's, and the one to copy to. */
  folders(scope: Scope): { readonly source: string; readonly target: string };
}

/** Imports skills by copying their folders. Existing skills are not overwritten. */
export function skillPlanner({ platform, folders }: SkillPorts): Planner {
  const { files } = platform;
  const itemType = "SKILLS";
  return {
    itemType,
    async plan(scope) {
      const { source, target } = folders(scope);
      if (source === target) return undefined;
      const found = (await files.list(source)).filter(({ name, folder }) => folder && !name.startsWith("."));
      const missing: string[] = [];
      for (const { name } of found) if (!(await files.exists(join(target, name)))) missing.push(name);
      if (missing.length === 0) return undefined;
      missing.sort();
      return {
        itemType,
        description: `Migrate skills from ${source} to ${target}`,
        details: details({ skills: named(missing) }),
        async run(report) {
          for (const name of missing) {
            try {
              await copyFolder(platform, join(source, name), target, name);
              report.success(name, name);
            } catch (cause) {
              report.failure(name, messageOf(cause));
            }
          }
        },
      };
    },
  };
}
