import type { ReviewTarget } from "@bobbin/protocol";
import type { Command } from "commander";
import type { ExecWork } from "./exec.ts";

interface ReviewOptions {
  readonly uncommitted?: boolean;
  readonly base?: string;
  readonly commit?: string;
  readonly title?: string;
}

/** Adds `exec review`, which has the model review changes. */
export function addExecReview(exec: Command, run: (self: Command, more: ExecWork) => Promise<void>): void {
  exec
    .command("review")
    .description("Have changes of this folder reviewed. The options of bobbin exec apply, too.")
    .argument("[prompt]", "what to review, in words; if it is -, it is read from stdin")
    .option("--uncommitted", "review staged, unstaged and untracked changes")
    .option("--base <branch>", "review what differs from this branch")
    .option("--commit <sha>", "review the changes of this commit")
    .option("--title <title>", "with --commit: its title, for the report")
    .action(async (prompt: string | undefined, options: ReviewOptions, self: Command) => {
      await run(self, { prompt, review: reviewOf(options, prompt, self) });
    });
}

function reviewOf(
  { uncommitted, base, commit, title }: ReviewOptions,
  prompt: string | undefined,
  self: Command,
): ReviewTarget | "prompt" {
  const targets: readonly (ReviewTarget | "prompt")[] = [
    ...(uncommitted ? [{ type: "uncommittedChanges" } as const] : []),
    ...(base === undefined ? [] : [{ type: "baseBranch", branch: base } as const]),
    ...(commit === undefined ? [] : [{ type: "commit", sha: commit, title: title ?? null } as const]),
    ...(prompt === undefined ? [] : (["prompt"] as const)),
  ];
  const [target, other] = targets;
  if (target === undefined || other !== undefined)
    self.error("error: say what to review: one of --uncommitted, --base, --commit, or a prompt");
  if (title !== undefined && commit === undefined) self.error("error: --title is for --commit");
  return target;
}
