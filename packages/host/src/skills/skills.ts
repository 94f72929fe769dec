import { basename, dirname, join } from "node:path";
import type { SkillErrorInfo, SkillMetadata, SkillScope } from "@bobbin/protocol";
import { foldersFromRepositoryRoot } from "../platform/git-repository.ts";
import type { Files } from "../platform/platform.ts";
import { FrontMatterError, readFrontMatter } from "./front-matter.ts";

type SkillFiles = Pick<Files, "readText" | "list" | "exists">;

export interface SkillPlaces {
  readonly home: string;
  /** The user's home folder, in which `.agents/skills` has the skills of all agents. */
  readonly userHome: string;
  readonly cwd: string;
  /** Further folders with skills that clients named. */
  readonly extraRoots: readonly string[];
  /** Whether a skill, given by the path of its SKILL.md and its name, is disabled. */
  disabled(path: string, name: string): boolean;
}

export interface Skills {
  readonly skills: SkillMetadata[];
  readonly errors: SkillErrorInfo[];
}

/** Skills, and the folders that were searched for them, including missing ones. */
export interface ReadSkills extends Skills {
  readonly folders: readonly string[];
}

const FILE = "SKILL.md";
/** Limit on the depth of folders. It also ends a search that follows a symlink to a parent folder. */
const MAX_DEPTH = 6;
const MAX_FOLDERS = 2000;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const SCOPES: readonly SkillScope[] = ["repo", "user", "system", "admin"];

/** Finds the skills for a folder: those of its repository, and the user's own. */
export async function readSkills(files: SkillFiles, places: SkillPlaces): Promise<ReadSkills> {
  const roots = await rootsOf(files, places);
  const paths = new Map<string, SkillScope>();
  const folders = new Set<string>();
  for (const { folder, scope } of roots) {
    const found = await skillFiles(files, folder);
    for (const path of found.paths) if (!paths.has(path)) paths.set(path, scope);
    for (const one of found.folders) folders.add(one);
  }
  const read = await Promise.all([...paths].map(([path, scope]) => readSkill(files, path, scope, places)));
  const skills = read.flatMap((one) => ("message" in one ? [] : [one]));
  const errors = read.flatMap((one) => ("message" in one ? [one] : []));
  const rank = ({ scope }: SkillMetadata): number => SCOPES.indexOf(scope);
  skills.sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name) || compare(a.path, b.path));
  errors.sort((a, b) => compare(a.path, b.path));
  return { skills, errors, folders: [...folders] };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Root {
  readonly folder: string;
  readonly scope: SkillScope;
}

async function rootsOf(
  files: SkillFiles,
  { home, userHome, cwd, extraRoots }: SkillPlaces,
): Promise<readonly Root[]> {
  // Outside of a repository, only `cwd` has skills of a project.
  const repo = ((await foldersFromRepositoryRoot(files, cwd)) ?? [cwd]).flatMap((folder): Root[] => [
    { folder: join(folder, ".codex", "skills"), scope: "repo" },
    { folder: join(folder, ".agents", "skills"), scope: "repo" },
  ]);
  return [
    // The user's folders come first, so that skills in them keep the scope `user` if a repository surrounds the home.
    { folder: join(home, "skills"), scope: "user" },
    { folder: join(userHome, ".agents", "skills"), scope: "user" },
    ...extraRoots.map((folder): Root => ({ folder, scope: "user" })),
    ...repo,
  ];
}

/** Finds every SKILL.md below a folder, except in hidden folders. Folders that cannot be read are skipped. */
async function skillFiles(
  files: SkillFiles,
  root: string,
): Promise<{ readonly paths: readonly string[]; readonly folders: readonly string[] }> {
  const found: string[] = [];
  const folders: string[] = [];
  let level = [root];
  let left = MAX_FOLDERS;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    level = level.slice(0, left);
    left -= level.length;
    folders.push(...level);
    const lists = await Promise.all(level.map((folder) => files.list(folder).catch(() => [])));
    const below: string[] = [];
    for (const [at, folder] of level.entries()) {
      for (const { name, folder: isFolder } of lists[at]!) {
        const path = join(folder, name);
        if (isFolder && !name.startsWith(".")) below.push(path);
        if (isFolder || name.startsWith(".")) continue;
        if (name === FILE) found.push(path);
        // A symlink is not listed as a folder, so symlinks to skill folders are followed here.
        else if (await files.exists(join(path, FILE))) {
          found.push(join(path, FILE));
          folders.push(path);
        }
      }
    }
    level = below;
  }
  return { paths: found, folders };
}

async function readSkill(
  files: SkillFiles,
  path: string,
  scope: SkillScope,
  { disabled }: SkillPlaces,
): Promise<SkillMetadata | SkillErrorInfo> {
  try {
    const text = await files.readText(path);
    if (text === undefined) throw new FrontMatterError("the file is gone");
    const head = readFrontMatter(text);
    const name = oneLine(head.get("name")) || basename(dirname(path));
    const description = oneLine(head.get("description"));
    const shortDescription = oneLine(head.get("metadata.short-description"));
    if (description === "") throw new FrontMatterError("`description` is missing, or no text");
    if (name.length > MAX_NAME) throw new FrontMatterError(`\`name\` is longer than ${MAX_NAME} characters`);
    if (description.length > MAX_DESCRIPTION) {
      throw new FrontMatterError(`\`description\` is longer than ${MAX_DESCRIPTION} characters`);
    }
    return {
      name,
      description,
      ...(shortDescription !== "" && { shortDescription }),
      path,
      scope,
      enabled: !disabled(path, name),
      pluginId: null,
    };
  } catch (cause) {
    return { path, message: (cause as Error).message };
  }
}

function oneLine(text = ""): string {
  return text.replace(/\s+/g, " ").trim();
}
