import { join } from "node:path";
import type { PromptSource, PromptWarning } from "@bobbin/protocol";
import type { Files } from "../platform/platform.ts";
import { type Projects, projectFolders } from "../tool/consent/project-rules.ts";
import { projectKey, trustIn } from "../tool/consent/project-trust-lookup.ts";

/** A folder with prompts. */
export interface PromptFolder {
  readonly path: string;
  readonly source: PromptSource;
}

export interface PromptSearchPath {
  /** Of two prompts with the same name, the one of the earlier folder counts. */
  readonly folders: readonly PromptFolder[];
  /** One warning per folder that is not used, because nobody has decided whether its project is trusted. */
  readonly warnings: readonly PromptWarning[];
}

const FOLDER = "prompts";

export function homePrompts(home: string): PromptFolder {
  return { path: join(home, FOLDER), source: "user" };
}

/**
 * Finds the prompt folders of the project around `cwd`, the nearest first. A model or a commit can change a project's
 * files, so they are used only if a person has trusted the project. There is no warning about a project that a person
 * has marked as untrusted.
 */
export async function projectPrompts(
  files: Pick<Files, "exists" | "readText" | "realPath">,
  { home, cwd, projects }: { readonly home: string; readonly cwd: string; readonly projects: Projects },
): Promise<PromptSearchPath> {
  const level = await trustIn(files, cwd, projects);
  const fromRoot = await projectFolders(files, await files.realPath(cwd).catch(() => cwd));
  const paths: string[] = [];
  for (const folder of fromRoot.toReversed())
    for (const own of [join(folder, ".bobbin"), join(folder, ".codex")]) {
      const path = join(own, FOLDER);
      if (own !== home && (await files.exists(path).catch(() => false))) paths.push(path);
    }
  if (level === "trusted")
    return { folders: paths.map((path) => ({ path, source: "project" })), warnings: [] };
  if (level === "untrusted") return { folders: [], warnings: [] };
  const root = fromRoot[0]!;
  const message = `is not used, because ${root} is not a trusted project. To trust it, set ${projectKey(root)}.trust_level to "trusted" in config.toml.`;
  return { folders: [], warnings: paths.map((path) => ({ path, message })) };
}
