import { isAbsolute, join, resolve } from "node:path";
import { MINIMAL } from "./minimal-files.ts";
import type { PatternFiles } from "./pattern-files.ts";
import type { FileAccess, FileRule, PermissionProfile } from "./permission-profile.ts";
import type { ConfinedCommand, SandboxPorts } from "./sandbox.ts";

/** A profile's rules with the paths that they mean for a command. */
export interface ProfilePaths {
  readonly readsEverything: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly deny: readonly string[];
  /** The folders of the workspace. */
  readonly workspace: readonly string[];
}

export async function pathsOfProfile(
  { platform }: SandboxPorts,
  patterns: PatternFiles,
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
        return MINIMAL;
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
        return (
          await Promise.all(folders.map((one) => patterns.find({ folder: one, pattern, depth })))
        ).flat();
      }
    }
  };
  const found = await Promise.all(
    profile.rules.map(async (rule) => (await pathsOf(rule)).map((path) => ({ path, access: rule.access }))),
  );
  const all = found.flat();
  const of = (access: FileAccess): readonly string[] =>
    all.filter((one) => one.access === access).map(({ path }) => path);
  return {
    readsEverything: [...of("read"), ...of("write")].includes("/"),
    read: of("read").filter((path) => path !== "/"),
    write: of("write"),
    deny: of("deny"),
    workspace,
  };
}
