import { isAbsolute, join, resolve } from "node:path";
import { findByGlob } from "./glob-search.ts";
import type { FileAccess, FileRule, PermissionProfile } from "./permission-profile.ts";
import type { ConfinedCommand, SandboxPorts } from "./sandbox.ts";
import { SYSTEM_PATHS } from "./system-paths.ts";

/** A permission profile's rules, resolved to the paths that they mean for one command. */
export interface ProfilePaths {
  readonly readsEverything: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly deny: readonly string[];
  /** The workspace's folders. */
  readonly workspace: readonly string[];
}

/** Resolves the rules of a profile to paths. */
export async function pathsOfProfile(
  { platform }: SandboxPorts,
  { roots, program }: ConfinedCommand,
  profile: PermissionProfile,
): Promise<ProfilePaths> {
  const workspace = [...roots, ...profile.workspaceRoots.map((root) => resolve(program.cwd, root))];
  const temporary = platform.env["TMPDIR"];
  const pathsOf = async ({ place }: FileRule): Promise<readonly string[]> => {
    switch (place.kind) {
      case "root":
        return ["/"];
      case "minimal":
        return SYSTEM_PATHS;
      case "slashTmp":
        return ["/tmp"];
      case "tmpdir":
        return temporary !== undefined && isAbsolute(temporary) ? [temporary] : [];
      case "workspace":
        return workspace.map((root) => join(root, place.below));
      case "path":
        return [place.path];
      case "pattern": {
        const { folder, pattern } = place;
        const depth = profile.globScanMaxDepth;
        const folders = folder === null ? workspace : [folder];
        const search = (one: string) => findByGlob(platform.files, { folder: one, pattern, depth });
        return (await Promise.all(folders.map(search))).flat();
      }
    }
  };
  const found = await Promise.all(
    profile.rules.map(async (rule) => (await pathsOf(rule)).map((path) => ({ path, access: rule.access }))),
  );
  const resolved = found.flat();
  const pathsWith = (access: FileAccess): readonly string[] =>
    resolved.filter((one) => one.access === access).map(({ path }) => path);
  return {
    readsEverything: [...pathsWith("read"), ...pathsWith("write")].includes("/"),
    read: pathsWith("read").filter((path) => path !== "/"),
    write: pathsWith("write"),
    deny: pathsWith("deny"),
    workspace,
  };
}
