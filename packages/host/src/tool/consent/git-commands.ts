/**
 * Built-in git commands that stay in a repository and do not change its configuration. Git never looks up an alias
 * for a built-in name. Left out are commands that exist to run other programs or to write the configuration.
 */
const COMMANDS: ReadonlySet<string> = new Set(
  `add am apply archive blame branch bundle cat-file check-attr check-ignore checkout checkout-index cherry cherry-pick
  clean commit commit-tree count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch
  fsck gc grep hash-object log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mktree mv name-rev
  notes pack-refs prune pull push range-diff read-tree rebase reflog repack rerere reset restore rev-list rev-parse revert
  rm shortlog show show-branch show-ref sparse-checkout stash status stripspace switch symbolic-ref tag update-index
  update-ref version whatchanged worktree write-tree`.split(/\s+/),
);

/** Global options that change neither the paths that git uses nor the programs that it runs. */
const GLOBAL: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
]);

/**
 * Long options whose value is a program or a file to write, or that make git run a program. Git also accepts
 * abbreviations of them.
 */
const RUNS = ["exec", "upload-pack", "receive-pack", "open-files-in-pager", "ext-diff", "remote", "output"];
/** The length of the shortest abbreviation of an option that git accepts. */
const SHORTEST = 2;
/** Short options that run a program, by command. */
const SHORT_RUNS: Readonly<Record<string, RegExp>> = {
  rebase: /^-[a-wyzA-Z]*x/,
  grep: /^-[a-zA-NP-Z]*O/,
};

/** Whether the words are a git command that runs no program of the caller's choice, and writes to no file by name. */
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

/**
 * Whether the words are a git command that changes repository settings which the sandbox protects. Such a command
 * would fail in the sandbox.
 */
export function changesGitSettings(words: readonly string[]): boolean {
  const [name, ...rest] = words;
  if (name !== "git") return false;
  const at = rest.findIndex((word) => !GLOBAL.has(word));
  const [command = "", ...args] = at < 0 ? [] : rest.slice(at);
  return Object.hasOwn(SETTINGS, command) && SETTINGS[command]!(args);
}

const begins =
  (...verbs: readonly string[]) =>
  ([verb = ""]: readonly string[]): boolean =>
    verbs.includes(verb);
const hasOption =
  (pattern: RegExp) =>
  (args: readonly string[]): boolean =>
    args.some((word) => pattern.test(word));

/** The option that sets the upstream of a new branch, also as an abbreviation. */
const TRACK = /^(-[a-zA-Z]*t|--tr)/;

/**
 * Checks of the arguments, by command. `clone` and `init` with a folder are left out, because they create new
 * repositories below the root of the workspace, which works in the sandbox.
 */
const SETTINGS: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  init: (args) => args.every((word) => word.startsWith("-") || /^\.?\/?$/.test(word)),
  checkout: hasOption(TRACK),
  switch: hasOption(TRACK),
  remote: begins("add", "rename", "remove", "rm", "set-url", "set-branches"),
  push: hasOption(/^(-[a-zA-Z]*u|--set-upstream$)/),
  branch: hasOption(
    /^(-[a-zA-Z]*[umMcCt]|--(set-upstream-to|unset-upstream|move|copy|track|edit-description)\b)/,
  ),
  worktree: (args) => begins("remove", "move", "prune", "repair")(args) || hasOption(/^--tr/)(args),
  submodule: begins("add", "init", "update", "deinit", "set-url", "set-branch", "sync", "absorbgitdirs"),
  config: (args) =>
    !args.some((word) => /^(-l|--(list|get|get-all|get-regexp|get-urlmatch)|get|list)$/.test(word)) &&
    !args.some((word) => /^--(global|system|file|blob)\b|^-f/.test(word)) &&
    args.filter((word) => !word.startsWith("-")).length > 1,
};
