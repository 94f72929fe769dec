import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/platform.ts";
import { readFrontMatter } from "../../skills/front-matter.ts";
import { commandOf } from "../custom-command-import.ts";
import { details, ImportProblem, named, type Planner } from "../pending-import.ts";
import { readText, stem, withOwnFileNames, writeText } from "../text-files.ts";

const EFFORTS: ReadonlyMap<string, string> = new Map([
  ["minimal", "minimal"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "xhigh"],
  ["max", "xhigh"],
]);

/**
 * Imports Claude Code's sub-agents as roles of helpers: files in `agents/` of the home. Only the user's own
 * sub-agents are imported, not those of repositories. Tools and permissions are not imported, because a helper has
 * the permissions of its parent.
 */
export function agentPlanner(
  platform: Pick<Platform, "files" | "workspace">,
  source: string,
  home: string,
): Planner {
  const { files } = platform;
  const target = join(home, "agents");
  const itemType = "SUBAGENTS";
  return {
    itemType,
    async plan(scope) {
      if (scope.kind !== "home") return undefined;
      const found: string[] = [];
      for (const { name, folder } of await files.list(source)) {
        if (folder || !name.endsWith(".md") || name === "README.md" || name.startsWith(".")) continue;
        if (!(await files.exists(join(target, `${stem(name, ".md")}.toml`)))) found.push(name);
      }
      if (found.length === 0) return undefined;
      const names = found.map((name) => stem(name, ".md")).sort();
      return {
        itemType,
        description: `Migrate subagents from ${source} to ${target}`,
        details: details({ subagents: named(names) }),
        async run(report) {
          for (const name of names) {
            try {
              const path = join(source, `${name}.md`);
              const role = await roleText(path, (await readText(files, path)) ?? "");
              await writeText(platform, target, join(target, `${name}.toml`), role);
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

/** Formats a role file for `agents/*.toml`. */
async function roleText(path: string, text: string): Promise<string> {
  let head: ReturnType<typeof readFrontMatter>;
  try {
    head = readFrontMatter(text);
  } catch (cause) {
    throw new ImportProblem(`${path}: ${messageOf(cause)}`, { cause });
  }
  const name = head.get("name")?.trim();
  const description = head.get("description")?.replace(/\s+/g, " ").trim();
  const body = withOwnFileNames(commandOf(text).body).trim();
  if (!name || !description || body === "")
    throw new ImportProblem(`${path}: a sub-agent has a name, a description and instructions`);
  const effort = EFFORTS.get(head.get("effort")?.trim() ?? "");
  const { stringify } = await import("@decimalturn/toml-patch");
  const role = {
    name,
    description: withOwnFileNames(description),
    ...(effort !== undefined && { model_reasoning_effort: effort }),
    developer_instructions: body,
  };
  return `${stringify(role).trim()}\n`;
}
