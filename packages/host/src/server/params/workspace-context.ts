import { dirname } from "node:path";
import type { GitInfo } from "@bobbin/protocol";
import { configPath } from "../../config/config-file.ts";
import type { ProjectDoc, ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";
import { visibleFiles } from "../../sandbox/visible-files.ts";
import { trustIn } from "../../tool/consent/project-trust-lookup.ts";
import type { HandlerContext } from "../handler-context.ts";
import { SUBJECT } from "../owner-access.ts";

/**
 * Facts about a folder that a thread gets when it is loaded: git info, project docs, and the configured instructions.
 */
export async function workspaceContext(
  settings: Pick<ThreadSettings, "cwd" | "roots" | "sandbox" | "permissionProfile">,
  /** The thread's owner. Only files that the owner may read are used. */
  owner: string,
  context: HandlerContext,
): Promise<{ readonly gitInfo: GitInfo | null; readonly docs: readonly ProjectDoc[] }> {
  const { cwd } = settings;
  const { workspaceFacts, config: own } = context.reachLookup.of(owner);
  const config = owner.startsWith(SUBJECT) ? own : context.configs.at(cwd);
  const { gitInfo, docs: found } = await workspaceFacts.read(cwd, config.projectDocs);
  const trust = await trustIn(context.platform.files, cwd, config.projects);
  // Project docs of an untrusted project are not passed to models. Docs in the home are.
  const isOfHome = ({ path }: ProjectDoc): boolean => dirname(path) === context.home;
  const docs =
    trust === "untrusted" ? found.filter(isOfHome) : await visibleDocs(found, isOfHome, settings, context);
  const { developerInstructions: text, instructionsFile } = config;
  if (text === null && instructionsFile === null) return { gitInfo, docs };
  const path = configPath(context.home);
  const configured: ProjectDoc[] = text === null ? [] : [{ path, text, as: "developer" }];
  if (instructionsFile !== null) configured.push(await baseDoc(instructionsFile, context));
  return { gitInfo, docs: [...configured, ...docs] };
}

/** Leaves out docs that a profile of the user's own hides from the thread's commands, also behind symlinks. */
async function visibleDocs(
  docs: readonly ProjectDoc[],
  isOfHome: (doc: ProjectDoc) => boolean,
  { cwd, roots = [cwd], sandbox: policy, permissionProfile: profile }: Parameters<typeof workspaceContext>[0],
  { sandbox, platform: { files } }: HandlerContext,
): Promise<readonly ProjectDoc[]> {
  if (profile == null || profile.startsWith(":")) return docs;
  const { isVisible } = visibleFiles(sandbox, files, { policy, profile, roots, cwd });
  const shown = await Promise.all(
    // If the profile no longer exists, it is unknown what it allowed.
    docs.map(async (doc) => isOfHome(doc) || isVisible(await files.realPath(doc.path)).catch(() => false)),
  );
  return docs.filter((_, nth) => shown[nth]);
}

async function baseDoc(path: string, { platform }: HandlerContext): Promise<ProjectDoc> {
  const text = (await platform.files.readText(path).catch(() => undefined))?.trim();
  if (text === undefined) throw fault("badConfig", `failed to read model instructions file ${path}`);
  if (text === "") throw fault("badConfig", `model instructions file is empty: ${path}`);
  return { path, text, as: "base" };
}
