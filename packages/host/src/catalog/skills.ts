import { basename, dirname, join } from "node:path";
import type { SkillErrorInfo, SkillMetadata, SkillScope } from "@bobbin/protocol";
import type { Files } from "../platform/platform.ts";
import { upwards } from "../platform/upwards.ts";
import { FrontMatterError, readFrontMatter } from "./front-matter.ts";

type SkillFiles = Pick<Files, "readText" | "list" | "exists">;

export interface SkillPlaces {
  readonly home: string;
  /** The person's own folder, where skills of all agents are. */
  readonly userHome: string;
  readonly cwd: string;
  /** Whether the skill of this SKILL.md, or of this name, is switched off. */
  disabled(path: string, name: string): boolean;
}

export interface Skills {
  readonly skills: SkillMetadata[];
  readonly errors: SkillErrorInfo[];
}

const FILE = "SKILL.md";
/** A link to a folder further up would never end otherwise. */
const MAX_DEPTH = 6;
const MAX_FOLDERS = 2000;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const SCOPES: readonly SkillScope[] = ["repo", "user", "system", "admin"];

/** The skills that apply in a folder: the repository's, from its root down, and the person's own. */
export async function readSkills(files: SkillFiles, places: SkillPlaces): Promise<Skills> {
  const roots = await rootsOf(files, places);
  const paths = new Map<string, SkillScope>();
  for (const { folder, scope } of roots) {
    for (const path of await skillFiles(files, folder)) if (!paths.has(path)) paths.set(path, scope);
  }
  const read = await Promise.all([...paths].map(([path, scope]) => readSkill(files, path, scope, places)));
  const skills = read.flatMap((one) => ("message" in one ? [] : [one]));
  const errors = read.flatMap((one) => ("message" in one ? [one] : []));
  const rank = ({ scope }: SkillMetadata): number => SCOPES.indexOf(scope);
  skills.sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name) || compare(a.path, b.path));
  errors.sort((a, b) => compare(a.path, b.path));
  return { skills, errors };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Root {
  readonly folder: string;
  readonly scope: SkillScope;
}

async function rootsOf(files: SkillFiles, { home, userHome, cwd }: SkillPlaces): Promise<readonly Root[]> {
  const repo = (await foldersFromRoot(files, cwd)).flatMap((folder): Root[] => [
    { folder: join(folder, ".codex", "skills"), scope: "repo" },
    { folder: join(folder, ".agents", "skills"), scope: "repo" },
  ]);
  return [
    // First, so that a repository around the home does not claim what is the person's.
    { folder: join(home, "skills"), scope: "user" },
    { folder: join(userHome, ".agents", "skills"), scope: "user" },
    ...repo,
  ];
}

/** From the repository's root down to `cwd`; outside of a repository only `cwd`. */
async function foldersFromRoot(files: SkillFiles, cwd: string): Promise<readonly string[]> {
  const above = upwards(cwd);
  const marked = await Promise.all(
    above.map((folder) => files.exists(join(folder, ".git")).catch(() => false)),
  );
  return above.slice(0, Math.max(0, marked.indexOf(true)) + 1).reverse();
}

/** Every SKILL.md under a folder; hidden folders are left out. What can not be read holds none. */
async function skillFiles(files: SkillFiles, root: string): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [root];
  let left = MAX_FOLDERS;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    level = level.slice(0, left);
    left -= level.length;
    const lists = await Promise.all(level.map((folder) => files.list(folder).catch(() => [])));
    const below: string[] = [];
    for (const [at, folder] of level.entries()) {
      for (const { name, folder: isFolder } of lists[at]!) {
        const path = join(folder, name);
        if (isFolder && !name.startsWith(".")) below.push(path);
        if (isFolder || name.startsWith(".")) continue;
        if (name === FILE) found.push(path);
        // People link to skills that are kept elsewhere; a link is listed as what it is, not as the folder behind it.
        else if (await files.exists(join(path, FILE))) found.push(join(path, FILE));
      }
    }
    level = below;
  }
  return found;
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
