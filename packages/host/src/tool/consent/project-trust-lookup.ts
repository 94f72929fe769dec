import type { Files } from "../../platform/platform.ts";
import { type Projects, projectFolders, type TrustLevel } from "./project-rules.ts";

/** The trust decision about a folder, else about the project that contains it; null if there is none. */
export async function trustIn(
  files: Pick<Files, "exists" | "readText" | "realPath">,
  cwd: string,
  projects: Projects,
): Promise<TrustLevel | null> {
  // Fast path: most configurations contain no trust decision.
  if (projects.size === 0) return null;
  const real = await files.realPath(cwd).catch(() => cwd);
  for (const path of [real, cwd]) {
    const level = projects.get(path)?.level;
    if (level != null) return level;
  }
  const [root] = await projectFolders(files, real);
  return projects.get(root!)?.level ?? null;
}

/** The key of a project in config.toml. */
export function projectKey(root: string): string {
  return `projects."${root.replaceAll(/["\\]/g, "\\$&")}"`;
}
