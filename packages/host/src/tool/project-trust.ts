import type { Files } from "../platform/platform.ts";
import { type ProjectRules, type Projects, projectFolders, type TrustLevel } from "./project-rules.ts";

/** What people said about a folder, or else about the project around it; null: nothing. */
export async function trustIn(
  files: Pick<Files, "exists" | "realPath">,
  cwd: string,
  projects: Projects,
): Promise<TrustLevel | null> {
  // Most people have said nothing about any folder.
  if (projects.size === 0) return null;
  const real = await files.realPath(cwd).catch(() => cwd);
  for (const path of [real, cwd]) {
    const level = projects.get(path)?.level;
    if (level != null) return level;
  }
  const [root] = await projectFolders(files, real);
  return projects.get(root!)?.level ?? null;
}

/** Threads beyond it may be warned once more. */
const MAX_THREADS = 10_000;

/** Warns those who follow a thread of rules of its project that do not count, once for each content of these rules. */
export class WithheldRuleNotes {
  /** Sends a warning to whoever follows a thread; false if nobody does. */
  readonly #warn: (threadId: string, message: string) => boolean;
  readonly #warned = new Map<string, string>();

  constructor(warn: (threadId: string, message: string) => boolean) {
    this.#warn = warn;
  }

  warn(threadId: string, project: Omit<ProjectRules, "rules" | "bad">): void {
    const { digest, level, isWithheld } = project;
    // Who does not trust a project has decided about its rules, too.
    if (!isWithheld || digest === null || level === "untrusted") return;
    if (this.#warned.get(threadId) === digest || !this.#warn(threadId, withheldRules(project))) return;
    if (this.#warned.size >= MAX_THREADS) this.#warned.clear();
    this.#warned.set(threadId, digest);
  }
}

function withheldRules({ root, digest, level }: Omit<ProjectRules, "rules" | "bad">): string {
  const why = level === "trusted" ? "are not those that were trusted" : "are not trusted";
  return `The rules of ${root} ${why}: what they allow does not count. To trust them as they are now, run \`bobbin rules trust ${root}\`, or set ${projectKey(root)}.trusted_rules to ${JSON.stringify(digest)} and its trust_level to "trusted" in config.toml.`;
}

/** The key of a project in config.toml. */
export function projectKey(root: string): string {
  return `projects."${root.replaceAll(/["\\]/g, "\\$&")}"`;
}
