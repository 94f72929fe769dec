import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import type { Files } from "../platform/platform.ts";
import { upwards } from "../platform/upwards.ts";
import { joinRules, type Rules, restrictionsOf } from "./consent/rules.ts";
import { type BadRulesFile, type RulesFile, readRulesFile } from "./consent/rules-file.ts";

export type TrustLevel = "trusted" | "untrusted";

/** What people said about a project: `[projects."/path"]`. */
export interface ProjectTrust {
  readonly level: TrustLevel | null;
  /** The digest of the rules that they have seen. */
  readonly rules: string | null;
}

/** By the folder of each project. */
export type Projects = ReadonlyMap<string, ProjectTrust>;

/** The rules that a project brings along. Its files can be changed by whoever writes to it, models included. */
export interface ProjectRules {
  readonly root: string;
  /** All of them if a person trusts exactly these; else only what they restrict. */
  readonly rules: Rules;
  readonly bad: readonly BadRulesFile[];
  /** Of the content of its rules files; null if it has none. */
  readonly digest: string | null;
  readonly isTrusted: boolean;
  /** What people said about the project, whatever its rules are now; null: nothing. */
  readonly level: TrustLevel | null;
  /** Whether some of its rules do not count because they are not trusted as they are. */
  readonly isWithheld: boolean;
}

const FOLDERS = [join(".bobbin", "rules"), join(".codex", "rules")];
const MAX_FILES = 64;
/** Longer paths name no folder. */
const MAX_PATH = 4096;

/** Reads the rules from the root of the project around a folder down to that folder. */
export async function readProjectRules(
  files: Pick<Files, "list" | "readText" | "exists" | "realPath">,
  cwd: string,
  projects: Projects,
  /** Has rules of its own, which are no project's. */
  ownFolder: string,
): Promise<ProjectRules> {
  // A client may name what no folder can be called.
  const folders = await projectFolders(files, await files.realPath(cwd).catch(() => cwd));
  const root = folders[0]!;
  const paths: string[] = [];
  for (const folder of folders.flatMap((one) => FOLDERS.map((name) => join(one, name)))) {
    if (folder === ownFolder) continue;
    for (const { name, folder: isFolder } of await files.list(folder).catch(() => []))
      if (!isFolder && name.endsWith(".rules")) paths.push(join(folder, name));
  }
  const read = await Promise.all(
    paths
      .sort()
      .slice(0, MAX_FILES)
      .map((path) => fileOf(files, path)),
  );
  const digest =
    read.length === 0 ? null : digestOf(read.map(({ path, text }) => [relative(root, path), text]));
  const trust = projects.get(root);
  const isTrusted = digest === null || (trust?.level === "trusted" && trust.rules === digest);
  const rules = joinRules(read.map(({ file }) => file.rules));
  const restrictions = restrictionsOf(rules);
  return {
    root,
    rules: isTrusted ? rules : restrictions,
    bad: read.flatMap(({ file }) => file.bad ?? []),
    digest,
    isTrusted,
    level: trust?.level ?? null,
    isWithheld: !isTrusted && ruleCount(rules) > ruleCount(restrictions),
  };
}

function ruleCount({ prefixes, network, executables }: Rules): number {
  return prefixes.length + network.length + executables.size;
}

/** From the root of the project around a folder, which is a real path, down to that folder. */
export async function projectFolders(files: Pick<Files, "exists">, cwd: string): Promise<readonly string[]> {
  const passed: string[] = [];
  if (cwd.length > MAX_PATH) return [cwd];
  for (const folder of upwards(cwd)) {
    passed.push(folder);
    // A folder that is not ours to look into is as good as none.
    if (await files.exists(join(folder, ".git")).catch(() => false)) return passed.reverse();
  }
  return [cwd];
}

async function fileOf(
  files: Pick<Files, "readText">,
  path: string,
): Promise<{ readonly path: string; readonly text: string; readonly file: RulesFile }> {
  try {
    const text = (await files.readText(path)) ?? "";
    return { path, text, file: readRulesFile(path, text) };
  } catch (cause) {
    return { path, text: "", file: readRulesFile(path, null, (cause as Error).message) };
  }
}

function digestOf(content: readonly (readonly [string, string])[]): string {
  return `sha256:${createHash("sha256").update(JSON.stringify(content)).digest("hex")}`;
}
