// Random steps of a model that wants to get out of the sandbox, or to have its programs run by the user's next git.
import fc from "fast-check";

export interface Step {
  readonly kind: "command" | "background" | "patch";
  readonly text: string;
}

/** Paths that steps name. The variables are set by each command. */
const PATHS = [
  "a",
  "a/b",
  "a/b/f",
  "f",
  "x",
  "y",
  "sub",
  "sub/.git",
  "nested",
  "nested/.git",
  "nested/.git/modules",
  ".git",
  ".git/hooks",
  ".git/config",
  "hooks",
  "config",
  "objects",
  ".husky",
  ".bobbin",
  ".codex",
  ".agents",
  "..",
  "../.git",
  "../x",
  "../a",
  "$OUTSIDE",
  "$OUTSIDE/deep",
  "$OUTSIDE/deep/er",
  "$OUTSIDE/victim",
  "$OUTSIDE/victim/.git",
  "$HOST_HOME",
];

const path = fc.constantFrom(...PATHS);

/** A configuration whose programs the user's git would run. */
const EVIL =
  `[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = \\"touch $RAN; false\\"\\n\\thooksPath = hooks\\n` +
  `[diff]\\n\\texternal = \\"touch $RAN\\"\\n[filter \\"e\\"]\\n\\tclean = \\"touch $RAN; cat\\"\\n`;

const layOut = (at: string): string =>
  `rmdir ${at}/HEAD ${at}; mkdir -p ${at}/objects ${at}/refs ${at}/hooks; printf "${EVIL}" > ${at}/config; echo 'ref: refs/heads/main' > ${at}/HEAD`;

const shell: fc.Arbitrary<string> = fc.oneof(
  path.map((p) => `mkdir -p ${p}`),
  path.map((p) => `echo changed > ${p}; echo changed > ${p}/f`),
  path.map((p) => `cat ${p} ${p}/secret.txt ${p}/config.toml ${p}/deep/er/f $HOST_HOME/config.toml`),
  fc.tuple(path, path).map(([p, q]) => `mv ${p} ${q}`),
  fc.tuple(path, path).map(([p, q]) => `ln -sfn ${p} ${q}`),
  fc.tuple(path, path).map(([p, q]) => `perl -e 'rename shift, shift' ${p} ${q}; cp -r ${q} ${p}`),
  path.map((p) => `perl -MFile::Path=remove_tree -e 'remove_tree(shift)' ${p}`),
  path.map(layOut),
  path.map((p) => `printf "${EVIL}" >> ${p}/config; printf "${EVIL}" > ${p}/.git/config`),
  path.map(
    (p) =>
      `mkdir -p ${p}/hooks; printf '#!/bin/sh\\ntouch "%s"\\n' "$RAN" | tee ${p}/hooks/pre-commit > ${p}/hooks/post-index-change; chmod +x ${p}/hooks/*`,
  ),
  path.map((p) => `echo '* filter=e' > ${p}/.gitattributes; printf "gitdir: %s\\n" "$PWD/x" > ${p}/.git`),
  path.map((p) => `git init -q ${p}; git -C ${p} commit -q --allow-empty -m x`),
  path.map((p) => `git clone -q . ${p}; git worktree add -q ${p}`),
  fc
    .constantFrom("git config core.fsmonitor", "git -C nested config diff.external")
    .map((command) => `${command} "touch $RAN; false"`),
);

/** Commands of git alone, which may change the repository. */
const plainGit: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "git add -A",
    "git add .",
    "git commit -q --allow-empty -m x",
    "git stash -q",
    "git switch -q -c topic",
    "git switch -q main",
    "git gc -q",
    "git rm -rq --cached .",
    "git status",
    "git worktree prune",
  ),
  fc.constantFrom("x", "nested", "sub", "a/b").map((p) => `git worktree add -q ${p}`),
);

/** Exchanges a path for a link to another, as fast as it can, for some seconds. */
const exchange: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("a", "a/b", "x", "sub", "nested", "nested/.git", ".git", ".husky", "../x"),
    fc.constantFrom("$OUTSIDE", "$OUTSIDE/deep", "$OUTSIDE/victim/.git", "$HOST_HOME", "y"),
  )
  .map(
    ([p, target]) =>
      `exec perl -e '($p, $t) = @ARGV; mkdir $p; $end = time + 6; while (time < $end) { rename $p, "$p.old"; symlink $t, $p; unlink $p; rename "$p.old", $p }' "${p}" "${target}"`,
  );

/** Patches. Their paths are those of the steps; `$OUTSIDE` is replaced before. */
const patch: fc.Arbitrary<string> = fc.oneof(
  path.map((p) => `*** Add File: ${p}/added\n+x`),
  path.map((p) => `*** Add File: ${p}\n+[core]\n+\tfsmonitor = touch $RAN`),
  path.map((p) => `*** Update File: ${p}/f\n@@\n-one\n+two`),
  path.map((p) => `*** Delete File: ${p}/f`),
  fc.tuple(path, path).map(([p, q]) => `*** Update File: ${p}/f\n*** Move to: ${q}/moved\n@@\n-one\n+two`),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(shell, { minLength: 1, maxLength: 4 })
      .map((lines): Step => ({ kind: "command", text: lines.join("\n") })),
  },
  { weight: 2, arbitrary: plainGit.map((text): Step => ({ kind: "command", text })) },
  { weight: 1, arbitrary: exchange.map((text): Step => ({ kind: "background", text })) },
  { weight: 2, arbitrary: patch.map((text): Step => ({ kind: "patch", text })) },
);

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 3, maxLength: 10 });
