import { describe, expect, it } from "vitest";
import { parseCommand } from "./parse-command.ts";

describe("a plain command", () => {
  it.each<[string, string[][]]>([
    ["ls -la", [["ls", "-la"]]],
    ["  git status  ;", [["git", "status"]]],
    ["cat 'a b' \"c d\" e\\ f", [["cat", "a b", "c d", "e f"]]],
    [
      "git diff HEAD~1 --stat && ls | wc -l; echo done",
      [["git", "diff", "HEAD~1", "--stat"], ["ls"], ["wc", "-l"], ["echo", "done"]],
    ],
    ["a ||\n b\nc", [["a"], ["b"], ["c"]]],
    ["rg -n 'foo|bar$' src", [["rg", "-n", "foo|bar$", "src"]]],
    ['grep -n "a\\.b" x', [["grep", "-n", "a\\.b", "x"]]],
    ["grep --include=a=b x", [["grep", "--include=a=b", "x"]]],
    ["echo ''", [["echo", ""]]],
    ["bash -lc 'ls $HOME'", [["bash", "-lc", "ls $HOME"]]],
  ])("%j has its words as they stand", (text, words) => {
    expect(parseCommand(text).words).toEqual(words);
  });

  it.each([
    "",
    "   ",
    "# nothing",
    "ls # a comment",
    "ls > x",
    "ls 2>&1",
    "cat < x",
    "cat <<EOF\nx\nEOF",
    "cat <<< x",
    "echo $HOME",
    'echo "$HOME"',
    "echo $" + "{x}",
    "echo $(ls)",
    "echo `ls`",
    'echo "`ls`"',
    "echo $((1+1))",
    "echo $'a'",
    'echo $"a"',
    "ls *.ts",
    "ls a?",
    "ls [ab]",
    "ls {a,b}",
    "ls ~",
    "ls ~root/x",
    "dd if=~/x",
    "(ls)",
    "{ ls; }",
    "A=b ls",
    "A=b",
    "ls &",
    "ls & ls",
    "ls |& cat",
    "! ls",
    "time ls",
    "if ls; then ls; fi",
    "for x in a; do ls; done",
    "f() { ls; }",
    "diff <(ls) x",
    "[[ a == b ]]",
    "((1))",
    "ls 'a",
    'ls "a',
    "ls a\\",
    "ls &&",
    "ls \\\n -la",
    "ls\r\nls",
    "ls a\u00a0b",
    "ls =ls",
    "ls !x",
    "'l'ls",
    "\\ls",
    "a\0b",
    "coproc ls",
    "ls\n%",
    "%1",
  ])("%j is not plain", (text) => {
    expect(parseCommand(text).words).toBeNull();
  });
});

describe("a command that removes files with force or recursion", () => {
  it.each([
    "rm -rf x",
    "rm -r x",
    "rm -f x",
    "rm x -fv",
    "rm --recursive x",
    "rm --forc x",
    "/bin/rm -fr x",
    "ls && rm -rf sub",
    "ls | rm -rf x > log",
    "sudo rm -rf x",
    "sudo -u other -- rm -rf x",
    "env A=b rm -rf x",
    "env -i -S 'rm -rf x'",
    "env -S'rm -rf x'",
    "find . -name x | xargs -0 -n 1 rm -rf",
    "find . -exec rm -rf {} \\;",
    "find . -delete",
    "trap 'rm -rf x' EXIT",
    "sh -c 'rm -rf x'",
    'bash -lc "cd x && rm -rf y"',
    "bash -c \"bash -c 'rm -rf x'\"",
    "timeout 10 nice -n 5 rm -rf x",
    "eval rm -rf x",
    "eval 'rm -rf x'",
    "alias x='rm -rf'",
    "if test -d x; then rm -rf x; fi",
    'for x in a b; do rm -r "$x"; done',
    'f() { rm -rf "$1"; }; f x',
    'echo "$(rm -rf x)"',
    "echo `rm -rf x`",
    "cat <(rm -rf x)",
    'rm -rf "$TARGET" >/dev/null',
    "x=rm; $x -rf y",
    "bash <<EOF\nrm -rf x\nEOF",
    "bash <<< 'rm -rf x'",
    "echo 'rm -rf x' | sh",
    "A=b rm -rf x",
    "(rm -rf x)",
    "if then rm -rf x",
    `${"env ".repeat(20)}rm -rf x`,
    "su - other -c 'rm -rf x'",
    "flock lock rm -rf x",
  ])("%j is dangerous", (text) => {
    expect(parseCommand(text).isDangerous).toBe(true);
  });

  it.each([
    "rm x",
    "rm -i x",
    "rm -- -rf",
    "echo 'rm -rf x'",
    "git rm -r x",
    "grep -rf patterns .",
    "npm run rm",
    "echo x | cat",
    "xargs ls",
    "sh -c 'ls -r'",
    "trap - EXIT",
    "find . -name rm",
    "cat <<EOF\nrm -rf x\nEOF",
    "if then",
  ])("%j is not dangerous", (text) => {
    expect(parseCommand(text).isDangerous).toBe(false);
  });
});

describe("commands inside of others", () => {
  it.each<[string, string[]]>([
    ["git push > log", ["git", "push"]],
    ["bash -c 'git push origin'", ["git", "push", "origin"]],
    ["x=$(git push)", ["git", "push"]],
    ["sudo env A=b bash -c 'git push'", ["git", "push"]],
    ["git push $REMOTE main", ["git", "push"]],
  ])("%j is found to hold %j", (text, words) => {
    expect(parseCommand(text).found).toContainEqual(words);
  });
});

describe("plain git", () => {
  it.each([
    "git status",
    "git add -A && git commit -m 'a b'",
    "git --no-pager log --oneline",
    "git stash; git switch main",
    "git worktree add ../x",
    "git rebase main",
    "git fetch origin",
    "git log -- --exec",
  ])("%j is nothing but git", (text) => {
    expect(parseCommand(text).isPlainGit).toBe(true);
  });

  it.each([
    "git",
    "git co x",
    "git -c core.pager=x log",
    "git -C x status",
    "git --git-dir=x status",
    "git --git-dir x status",
    "git --work-tree=x status",
    "git --exec-path=x status",
    "git config user.name x",
    "git remote add x y",
    "git clone x",
    "git init",
    "git submodule foreach ls",
    "git bisect run ls",
    "git rebase -x ls main",
    "git rebase -ix ls main",
    "git rebase --exec ls main",
    "git rebase --exe=ls main",
    "git fetch --upload-pack=x origin",
    "git fetch --upload=x origin",
    "git push --receive-pack x",
    "git grep -Ovi x",
    "git grep --open=vi x",
    "git diff --ext-diff",
    "git filter-branch",
    "git difftool -x ls",
    "git status && ls",
    "cd x && git status",
    "git status > x",
    "GIT_DIR=x git status",
    "/usr/bin/git status",
    "git $X",
  ])("%j is not", (text) => {
    expect(parseCommand(text).isPlainGit).toBe(false);
  });
});

describe("git that changes settings of its repository", () => {
  it.each([
    "git remote add x y",
    "git remote set-url origin y",
    "git push -u origin main",
    "git push --force --set-upstream origin main",
    "git branch -u origin/main",
    "git branch --set-upstream-to=origin/main",
    "git branch -m other",
    "git config user.name x",
    "git config --unset user.name x",
    "git worktree remove ../x",
    "git submodule update --init",
    "git --no-pager remote rm x",
    "git checkout -t origin/x",
    "git checkout -qt origin/x",
    "git checkout -b y --track origin/x",
    "git switch --track=direct origin/x",
    "git switch -c y --tr origin/x",
    "git worktree add --track -b y ../y origin/x",
    "git add . && git commit -m x && git push -u origin x",
  ])("%j does", (text) => {
    expect(parseCommand(text).changesGitSettings).toBe(true);
  });

  it.each([
    "git remote -v",
    "git remote show origin",
    "git push origin main",
    "git push --follow-tags",
    "git branch",
    "git branch x",
    "git branch -D x",
    "git branch --list",
    "git config user.name",
    "git config --get user.name",
    "git config --global user.name x",
    "git config --list",
    "git worktree add ../x",
    "git checkout x",
    "git checkout --theirs a.txt",
    "git checkout --no-track -b y origin/x",
    "git switch -c test",
    "git worktree list",
    "git submodule status",
    "git init",
    "git clone x",
    "git status",
    "git remote add x y && ls",
    "git remote add $X y",
  ])("%j does not, as far as can be known", (text) => {
    expect(parseCommand(text).changesGitSettings).toBe(false);
  });
});

describe("a text that cannot be read", () => {
  const nested = (open: string): string => open.repeat(Math.floor((63 * 1024) / open.length));

  it.each([
    `echo ${"x".repeat(64 * 1024)}`,
    ...[
      "$(",
      "(",
      "{",
      "{a,",
      "`",
      '"$(',
      "${a:-",
      "$((",
      "<<a ",
      "<(",
      "coproc ",
      "function f ",
      "f(){ ",
    ].map(nested),
  ])("%.20j… is neither plain nor harmless, and is given up quickly", (text) => {
    const parsed = parseCommand(text);
    expect(parsed.words).toBeNull();
    expect(parsed.isPlainGit).toBe(false);
  });

  it("says why", () => {
    expect(parseCommand("x".repeat(70_000))).toMatchObject({
      isDangerous: true,
      problem: "it is longer than 64 KiB",
    });
    expect(parseCommand("$(".repeat(100))).toMatchObject({
      isDangerous: true,
      problem: "it is nested too deeply",
    });
  });
});
