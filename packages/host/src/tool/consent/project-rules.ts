import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { foldersFromRepositoryRoot } from "../../platform/git-repository.ts";
import type { Files } from "../../platform/platform.ts";
import { joinRules, type Rules, restrictionsOf } from "./command-and-network-rules.ts";
import { type BadRulesFile, type RulesFile, readRulesFile } from "./rules-file.ts";

export type TrustLevel = "trusted" | "untrusted";

/** The trust decision about a project, from `[projects."/path"]` in the configuration. */
export interface ProjectTrust {
  readonly level: TrustLevel | null;
  /** Digest of the rules files at the time they were trusted. */
  readonly rules: string | null;
  /** Digests of other trusted files, by their path relative to the project's root. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Trust decisions, by the project's folder. */
export type Projects = ReadonlyMap<string, ProjectTrust>;

/** The rules files of a project as they were read. Everyone who can write to the project can change them. */
export interface ProjectRulesFiles {
  readonly root: string;
  /** The rules of all files. */
  readonly rules: Rules;
  readonly bad: readonly BadRulesFile[];
  /** Digest of all rules files; null if there are none. */
  readonly digest: string | null;
  /** Why the files may have restrictions that are not known; null if all could be read. */
  readonly problem: string | null;
}

/** The rules files of a project, with the trust decision about them. */
export interface ProjectRules extends ProjectRulesFiles {
  /** All rules, if exactly this content is trusted. Otherwise only the rules that restrict. */
  readonly rules: Rules;
  readonly isTrusted: boolean;
  /** The trust decision about the project itself, apart from its rules; null if there is none. */
  readonly level: TrustLevel | null;
  /** Whether some rules are ignored because they are not trusted. */
  readonly isWithheld: boolean;
}

const FOLDERS = [join(".bobbin", "rules"), join(".codex", "rules")];
const MAX_FILES = 64;
/** Limit on the length of a path. No folder has a longer one. */
const MAX_PATH = 4096;

/** Reads the rules files of a project, from its root down to `cwd`. */
export async function readProjectRules(
  files: Pick<Files, "list" | "readText" | "exists" | "realPath">,
  cwd: string,
  /** The host's own rules folder, which is part of no project; null if the host has none. */
  ownFolder: string | null,
): Promise<ProjectRulesFiles> {
  // A client may name a path that cannot exist on this system.
  const folders = await projectFolders(files, await files.realPath(cwd).catch(() => cwd));
  const root = folders[0]!;
  const paths: string[] = [];
  const bad: BadRulesFile[] = [];
  for (const folder of folders.flatMap((one) => FOLDERS.map((name) => join(one, name)))) {
    if (folder === ownFolder) continue;
    try {
      for (const { name, folder: isFolder } of await files.list(folder))
        if (!isFolder && name.endsWith(".rules")) paths.push(join(folder, name));
    } catch (cause) {
      // A path that cannot exist, or leads through a file, has no rules.
      if (!isMissing(cause)) bad.push({ file: folder, line: 1, message: (cause as Error).message });
    }
  }
  if (paths.length > MAX_FILES)
    bad.push({ file: root, line: 1, message: `the project has more than ${MAX_FILES} rules files` });
  const read = await Promise.all(
    paths
      .sort()
      .slice(0, MAX_FILES)
      .map((path) => fileOf(files, path)),
  );
  bad.push(...read.flatMap(({ file }) => file.bad ?? []));
  const [first] = bad;
  return {
    root,
    rules: joinRules(read.map(({ file }) => file.rules)),
    bad,
    digest: read.length === 0 ? null : digestOf(read.map(({ path, text }) => [relative(root, path), text])),
    problem: first === undefined ? null : `${first.file}:${first.line}: ${first.message}`,
  };
}

function isMissing(cause: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"].includes(
    (cause as NodeJS.ErrnoException).code ?? "",
  );
}

/** Adds the current trust decision to the rules files of a project. */
export function withTrust(project: ProjectRulesFiles, projects: Projects): ProjectRules {
  const { root, rules, digest } = project;
  const trust = projects.get(root);
  const isTrusted = digest === null || (trust?.level === "trusted" && trust.rules === digest);
  const restrictions = restrictionsOf(rules);
  return {
    ...project,
    rules: isTrusted ? rules : restrictions,
    isTrusted,
    level: trust?.level ?? null,
    isWithheld: !isTrusted && ruleCount(rules) > ruleCount(restrictions),
  };
}

function ruleCount({ prefixes, network, executables }: Rules): number {
  return prefixes.length + network.length + executables.size;
}

/**
 * The folders from the project's root down to `cwd`, which must be a real path. The root is the top of the git
 * repository; without one, `cwd` is a project of its own.
 */
export async function projectFolders(
  files: Pick<Files, "exists" | "readText">,
  cwd: string,
): Promise<readonly string[]> {
  if (cwd.length > MAX_PATH) return [cwd];
  return (await foldersFromRepositoryRoot(files, cwd)) ?? [cwd];
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
