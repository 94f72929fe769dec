import { join } from "node:path";
import type { GitRepository } from "../platform/git-repository.ts";
import type { Files, ProgramStart } from "../platform/platform.ts";

/**
 * The program with an environment in which git sets no upstream of a branch by itself. Upstreams are in the repository's
 * configuration, which commands cannot write: git would report an error, and then that the branch tracks the remote one.
 */
export function withoutAutomaticUpstream(program: ProgramStart): ProgramStart {
  const { env } = program;
  const count = Number.parseInt(env["GIT_CONFIG_COUNT"] ?? "0", 10) || 0;
  const setting = {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: "branch.autoSetupMerge",
    [`GIT_CONFIG_VALUE_${count}`]: "false",
  };
  return { ...program, env: { ...env, ...setting } };
}

/** The branch that is checked out, as the file `HEAD` names it; undefined if it names none. */
export async function currentBranch(
  files: Pick<Files, "readText">,
  { gitDir }: GitRepository,
): Promise<string | undefined> {
  const head = await files.readText(join(gitDir, "HEAD")).catch(() => undefined);
  return /^ref: refs\/heads\/([\w./-]+)\n$/.exec(head ?? "")?.[1];
}

/**
 * A sentence for the model if a command checked out a new branch from a remote one (`git switch NAME`), which has no
 * upstream then. `before`: the branch before the command.
 */
export async function missingUpstream(
  files: Pick<Files, "readText">,
  repository: GitRepository,
  before: string | undefined,
): Promise<readonly string[]> {
  const branch = await currentBranch(files, repository);
  if (branch === undefined || branch === before || branch.includes("..")) return [];
  const { commonDir } = repository;
  const read = (...path: readonly string[]): Promise<string> =>
    files.readText(join(commonDir, ...path)).then(
      (text) => text ?? "",
      () => "",
    );
  // The log of a new branch has one line, which says where the branch comes from.
  const log = await read("logs", "refs", "heads", branch);
  const remote = /^0+ [^\n]*\tbranch: Created from refs\/remotes\/([\w./-]+)\n$/.exec(log)?.[1];
  if (remote === undefined || (await read("config")).includes(`[branch "${branch}"]`)) return [];
  return [
    `The branch ${branch} has no upstream, because the sandbox protects the repository's settings. \`git branch -u ${remote}\` sets it, and asks the user first.`,
  ];
}
