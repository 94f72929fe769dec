import type { Platform } from "../platform/platform.ts";
import { ruleFiles } from "../store/files/document-files.ts";
import type { PrefixRule } from "../tool/consent/command-and-network-rules.ts";
import type { Projects } from "../tool/consent/project-rules.ts";
import { RulesStore } from "../tool/consent/rules-store.ts";

/** Opens the rules of the home, of the trusted `projects` and of requirements, for commands that start no host. */
export function openRulesStore(
  home: string,
  platform: Pick<Platform, "files" | "liveness">,
  projects: Projects = new Map(),
  required: readonly PrefixRule[] = [],
): RulesStore {
  return new RulesStore(ruleFiles(home, platform), {
    files: platform.files,
    projects: () => projects,
    required: () => required,
  });
}
