import { parse } from "unbash";
import { describe, expect, it, vi } from "vitest";
import { parseCommand } from "./parse-command.ts";

vi.mock("unbash", { spy: true });

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
    expect(parseCommand(text, "bash").words).toEqual(words);
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
    "ls ^x",
    "ls -^x",
    "ls !x",
    "'l'ls",
    "\\ls",
    "a\0b",
    "coproc ls",
    "ls\n%",
    "%1",
  ])("%j is not plain", (text) => {
    expect(parseCommand(text, "bash").words).toBeNull();
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
    ". /dev/stdin <<< 'rm -rf x'",
    "source /dev/stdin <<EOF\nrm -rf x\nEOF",
    ". /proc/self/fd/0 <<< 'rm -rf x'",
    ". <(echo rm -rf x)",
    "bash <(echo rm -rf x)",
    "bash /dev/stdin <<< 'rm -rf x'",
    "bash -s <<< 'rm -rf x'",
    "bash -c -- 'rm -rf x'",
    "bash -c -x 'rm -rf x'",
    "{ sh; } <<< 'rm -rf x'",
    "echo 'rm -rf x' | { sh; }",
    "echo 'rm -rf x' | sudo sh",
    "cat x | sh",
    "exec <<< 'rm -rf x'; sh",
    "rm $OPTS x",
    'rm "$OPTS" x',
    "rm x $(echo -rf)",
    "rm {-rf,x}",
    "rm *",
    "find . | xargs rm",
    "$CMD x",
    'sh -c "$TEXT"',
    'eval "$TEXT"',
    "sudo $CMD x",
    "noglob rm -rf x",
    "- rm -rf x",
    "repeat 2 rm -rf x",
    "if then",
  ])("%j is dangerous", (text) => {
    expect(parseCommand(text, "bash").isDangerous).toBe(true);
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
    'rm -- "$FILE"',
    'rm "/tmp/$FILE"',
    "rm ./*.o",
    "rm a/*.o",
    '"$HOME/bin/tool" -rf x',
    'env A="$B" make',
    ". ./env.sh",
    '. "$HOME/.profile"',
    "sh script.sh",
    "bash",
    "sh -s <<< ls",
    "ls | xargs -n 1 wc",
  ])("%j is not dangerous", (text) => {
    expect(parseCommand(text, "bash").isDangerous).toBe(false);
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
    expect(parseCommand(text, "bash").found).toContainEqual(words);
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
    expect(parseCommand(text, "bash").isPlainGit).toBe(true);
  });

  it.each([
    "git",
    "git co x",
    "git -c core.pager=x log",
    "git -C x status",
    "git diff --output=x",
    "git diff --no-index --output x a b",
    "git log --outp=x",
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
    expect(parseCommand(text, "bash").isPlainGit).toBe(false);
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
    "git init",
    "git init -q .",
    "git init && git add .",
  ])("%j does", (text) => {
    expect(parseCommand(text, "bash").changesGitSettings).toBe(true);
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
    "git init sub",
    "git init -q ./sub",
    "git clone x",
    "git status",
    "git remote add x y && ls",
    "git remote add $X y",
  ])("%j does not, as far as can be known", (text) => {
    expect(parseCommand(text, "bash").changesGitSettings).toBe(false);
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
      "$[",
      "$[ ",
      "$[[",
      '"$[',
      "a=$[",
      "$\\\n[",
      "env ",
      "sudo ",
      "xargs ",
      "find -exec ",
      "env sudo sh ",
      "parallel ",
      "watch 'a b' ",
      "env -S 'a b' ",
    ].map(nested),
  ])("%.20j… is neither plain nor harmless, and is given up quickly", (text) => {
    const parsed = parseCommand(text, "bash");
    expect(parsed.words).toBeNull();
    expect(parsed.isPlainGit).toBe(false);
  });

  it.each(["$[", '"$[', "a=$[", "$(", "`", "<<a "])("is not parsed if it repeats %j", (open) => {
    vi.mocked(parse).mockClear();
    expect(parseCommand(nested(open), "bash")).toMatchObject({
      isDangerous: true,
      problem: expect.any(String),
    });
    expect(parse).not.toHaveBeenCalled();
  });

  it.each(["env ", "sudo ", "xargs ", "find -exec ", "parallel ", "watch 'a b' ", "env -S 'a b' "])(
    "is given up after the same number of words if it repeats %j",
    (word) => {
      const inspected = (times: number): number =>
        parseCommand(word.repeat(times), "bash").found.reduce((sum, words) => sum + words.length, 0);
      expect(inspected(4096)).toBeLessThanOrEqual(64 * 1024);
      expect(parseCommand(word.repeat(4096), "bash")).toMatchObject({ words: null, isDangerous: true });
    },
  );

  it("is parsed for as much nested text as one command may have", () => {
    vi.mocked(parse).mockClear();
    const text = "sh -c 'ls -l'\n".repeat(4000);
    parseCommand(text, "bash");
    const parsed = vi.mocked(parse).mock.calls.reduce((sum, [one]) => sum + one.length, 0);
    expect(parsed).toBeLessThanOrEqual(2 * 64 * 1024);
  });

  it("is every text for a shell whose syntax is not known", () => {
    const parsed = parseCommand("git log 'a\\' '; sh evil.sh # '", "unknown");
    expect(parsed).toMatchObject({ words: null, isPlainGit: false, isDangerous: true });
    expect(parseCommand("git push", "unknown").found).toEqual([["git", "push"]]);
  });

  it("says why", () => {
    expect(parseCommand("x".repeat(70_000), "bash")).toMatchObject({
      isDangerous: true,
      problem: "it is longer than 64 KiB",
    });
    expect(parseCommand("$(".repeat(100), "bash")).toMatchObject({
      isDangerous: true,
      problem: "it is nested too deeply",
    });
  });
});
