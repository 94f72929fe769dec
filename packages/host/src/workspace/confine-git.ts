import type { ProgramStart } from "../platform/platform.ts";
import type { Confined, Sandbox } from "../sandbox/sandbox.ts";

/**
 * Wraps a run of git for the threads of an owner. `folder`: the real path of its git folder, the only folder that the
 * run can write to.
 */
export type ConfineGit = (
  owner: string,
  program: ProgramStart,
  folder: string,
) => Promise<
  Pick<Extract<Confined, { kind: "program" }>, "program" | "release"> | { readonly refusal: string }
>;

/**
 * Confines the git that the host runs itself. A model can exchange a folder for a symlink at any time, also while git
 * reads it. In the sandbox git finds behind the symlink only what the owner may read: for a subject its roots and
 * the system's programs, for the host's own user everything but the home. There is no network.
 *
 * On a machine without a sandbox, git runs unconfined for the host's own user, and not at all for subjects.
 */
export function confinedGit(
  sandbox: Pick<Sandbox, "confine">,
  rootsOf: (owner: string) => Promise<readonly string[] | null>,
): ConfineGit {
  return async (owner, program, folder) => {
    const roots = await rootsOf(owner);
    const confined = await sandbox.confine({
      program,
      policy: {
        type: "workspaceWrite",
        networkAccess: false,
        writableRoots: [folder],
        excludeSlashTmp: true,
        excludeTmpdirEnvVar: true,
      },
      roots: [],
      gitWritable: false,
      within: roots === null ? null : [folder],
      // The working tree of the host's own user may be inside the home, which is hidden.
      readable: roots ?? [program.cwd],
    });
    if (confined.kind === "program") return confined;
    if (roots === null) return { program, release: async () => [] };
    return { refusal: `git runs only in the sandbox here, and ${confined.reason}` };
  };
}
