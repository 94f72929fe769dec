import { createHash } from "node:crypto";
import { join } from "node:path";
import { messageOf } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { FrontMatterError, readFrontMatter } from "../skills/front-matter.ts";
import type { Scope } from "./import-scope.ts";
import { details, named, type Planner } from "./pending-import.ts";
import { below, readText, withOwnFileNames, writeText } from "./text-files.ts";

export interface CommandPorts {
  readonly platform: Pick<Platform, "files" | "workspace">;
  folders(scope: Scope): { readonly source: string; readonly target: string };
}

/**
 * Prefix of skills that are made from commands. The Codex CLI uses the same names, so that commands that it imported
 * are not imported again.
 */
const PREFIX = "source-command-";
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const MAX_DEPTH = 4;
const MAX_COMMANDS = 500;

/** Imports custom commands, which are prompts in Markdown files, as skills. Existing skills are not overwritten. */
export function commandPlanner({ platform, folders }: CommandPorts): Planner {
  const { files } = platform;
  const itemType = "COMMANDS";
  return {
    itemType,
    async plan(scope) {
      const { source, target } = folders(scope);
      const found = new Map<string, string>();
      const taken = new Set<string>();
      for (const path of await markdownBelow(files, source)) {
        const name = skillName(below(source, path), taken);
        taken.add(name);
        if (!(await files.exists(join(target, name)))) found.set(name, path);
      }
      if (found.size === 0) return undefined;
      const names = [...found.keys()].sort();
      return {
        itemType,
        description: `Migrate commands from ${source} to ${target}`,
        details: details({ commands: named(names) }),
        async run(report) {
          for (const name of names) {
            try {
              const text = skillText(name, (await readText(files, found.get(name)!)) ?? "");
              await writeText(platform, target, join(target, name, "SKILL.md"), text);
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

async function markdownBelow(
  files: Platform["files"],
  folder: string,
  depth = 0,
): Promise<readonly string[]> {
  const found: string[] = [];
  const entries = [...(await files.list(folder))].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, folder: isFolder } of entries) {
    if (name.startsWith(".")) continue;
    if (isFolder && depth < MAX_DEPTH)
      found.push(...(await markdownBelow(files, join(folder, name), depth + 1)));
    else if (!isFolder && name.endsWith(".md") && name !== "README.md") found.push(join(folder, name));
  }
  return found.slice(0, MAX_COMMANDS);
}

/**
 * Makes a unique skill name from a file's path. Different paths may give the same name, for example in non-Latin
 * scripts. The later ones get a digest.
 */
function skillName(path: string, taken: ReadonlySet<string>): string {
  const slug = path
    .replace(/\.md$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const named = (length: number): string =>
    `${PREFIX}${slug || "command"}`.slice(0, length).replace(/-$/, "");
  const name = named(MAX_NAME);
  if (!taken.has(name)) return name;
  const digest = createHash("sha256").update(path).digest("hex").slice(0, 8);
  return `${named(MAX_NAME - digest.length - 1)}-${digest}`;
}

function skillText(name: string, text: string): string {
  const { description, body } = commandOf(text);
  const about = description || body.split("\n").find((line) => line.trim() !== "") || name;
  const short = withOwnFileNames(about)
    .replace(/^#+\s*/, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_DESCRIPTION);
  const takesArguments = /\$(ARGUMENTS|\d)\b/.test(body);
  const note = takesArguments
    ? "What the user says with this command stands for `$ARGUMENTS` (`$1`, `$2`) below.\n\n"
    : "";
  return `---\nname: ${name}\ndescription: ${JSON.stringify(short)}\n---\n\n${note}${withOwnFileNames(body).trim()}\n`;
}

/** Splits a command file into the description of its front matter, and the body. */
export function commandOf(text: string): { readonly description: string; readonly body: string } {
  const head = /^---\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[0];
  if (head === undefined) return { description: "", body: text };
  const body = text.slice(head.length);
  try {
    return { description: readFrontMatter(text).get("description") ?? "", body };
  } catch (cause) {
    if (!(cause instanceof FrontMatterError)) throw cause;
    return { description: "", body };
  }
}
