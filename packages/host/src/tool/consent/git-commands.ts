/**
 * Git's own commands that work inside of a repository and need nothing of its configuration changed. Git never looks
 * for an alias of such a name. Left out are those that exist to run other programs, or to write the configuration.
 */
const COMMANDS: ReadonlySet<string> = new Set(
  `add am apply archive blame branch bundle cat-file check-attr check-ignore checkout checkout-index cherry cherry-pick
  clean commit commit-tree count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch
  fsck gc grep hash-object log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mktree mv name-rev
  notes pack-refs prune pull push range-diff read-tree rebase reflog repack rerere reset restore rev-list rev-parse revert
  rm shortlog show show-branch show-ref sparse-checkout stash status stripspace switch symbolic-ref tag update-index
  update-ref version whatchanged worktree write-tree`.split(/\s+/),
);

/** Options before the command that change nothing about where git looks and what it runs. */
const GLOBAL: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
]);

/** Long options whose value is a program, or that make git run one; also in their shortened forms. */
const RUNS = ["exec", "upload-pack", "receive-pack", "open-files-in-pager", "ext-diff", "remote"];
/** The shortest beginning of such an option that git may take for it. */
const SHORTEST = 2;
/** Short options that do so, by command. */
const SHORT_RUNS: Readonly<Record<string, RegExp>> = {
  rebase: /^-[a-wyzA-Z]*x/,
  grep: /^-[a-zA-NP-Z]*O/,
};

/** Whether the words are a git command that runs no program of the caller's choice and stays in its repository. */
export function isPlainGitCommand(words: readonly string[]): boolean {
  const [name, ...rest] = words;
  if (name !== "git") return false;
  const at = rest.findIndex((word) => !GLOBAL.has(word));
  const command = rest[at];
  if (command === undefined || !COMMANDS.has(command)) return false;
  const options = rest.slice(at + 1);
  const end = options.indexOf("--");
  return !(end < 0 ? options : options.slice(0, end)).some((word) => runsProgram(command, word));
}

function runsProgram(command: string, word: string): boolean {
  if (SHORT_RUNS[command]?.test(word)) return true;
  const long = /^--([a-z-]+)/.exec(word)?.[1];
  if (long === undefined || long.length < SHORTEST) return false;
  if (long === "remote" || long === "remotes") return command === "archive";
  return RUNS.some((one) => one.startsWith(long) || long.startsWith(one));
}
