import { describe, expect, it } from "vitest";
import { parseCommand } from "./parse-command.ts";
import { onlyReads } from "./read-only-commands.ts";
import { syntaxOf } from "./shell-syntax.ts";

const reads = (text: string, shell = "/bin/sh"): boolean => onlyReads(parseCommand(text, syntaxOf(shell)));

describe("a command", () => {
  it.each([
    "cat a.txt",
    "cat a | sort -u",
    "cat a | sort -k2 -t o",
    "sort -nrk 2,3 a",
    "sort --key=2 --field-separator , a",
    "cat a | uniq -c",
    "uniq -c a",
    "cat a | sed -n 1,20p",
    "sed -n -e 5p a",
    "nl -ba a.ts | sed -n '5,$p'",
    "tree -L 2 -a src",
    "tree --dirsfirst --filelimit 10",
    "rg -n --hidden -g '*.ts' needle src",
    "rg --files",
    "grep -rn -e one src",
    "git grep -n needle -- src",
    "git ls-files --others --exclude-standard",
    "fd -e ts -H needle",
    "find . -name '*.ts' -mtime -1 -not -path './node_modules/*'",
    "less -N a",
    "bat --paging=never -p a",
    "cd src && ls -la && wc -l a | head -5",
    "echo hello; pwd",
  ])("only reads: %s", (text) => expect(reads(text)).toBe(true));

  it.each([
    ["the option -o of sort", "cat a | sort -o b"],
    ["that option in a group", "sort -uo b a"],
    ["that option as an abbreviation", "sort --out=b a"],
    ["a program that sort runs", "sort --compress-program=./x a"],
    ["the second operand of uniq", "cat a | uniq - b"],
    ["that operand after an option's value", "uniq -f 1 a b"],
    ["the command w of sed", "cat a | sed -n 'w b'"],
    ["that command after an option", "sed -n -e 1p -e 'w b' a"],
    ["that command in a group of options", "sed -ne 'w b' a"],
    ["a sed script in a file", "sed -n -f script a"],
    ["sed in place", "sed -n -i 1p a"],
    ["tree to a file", "tree -o f"],
    ["tree that writes pages", "tree -R -H . -L 2"],
    ["a program that rg runs", "rg --pre ./x needle"],
    ["that program after an equals sign", "rg --pre=./x needle"],
    ["another program that rg runs", "rg --hostname-bin ./x needle"],
    ["a pager of git grep", "git grep -O needle"],
    ["that pager in a group", "git grep -nO./x needle"],
    ["that pager as a long option", "git grep --open-files-in-pager=./x needle"],
    ["git with another configuration", "git -c core.pager=./x grep needle"],
    ["another git command", "git stash"],
    ["a program that fd runs", "fd -Hx rm"],
    ["a find that removes", "find . -name a -delete"],
    ["a find that writes", "find . -fprintf f %p"],
    ["a log file of less", "less -o f a"],
    ["a command of less", "less +!touch\\ b a"],
    ["a pager of bat", "bat --pager ./x a"],
    ["a program of the folder", "./cat a"],
    ["an unknown program", "make"],
    ["a substitution in a subscript that printf evaluates", "printf -v 'a[$(touch b)]' x"],
    ["a redirect", "cat a > b"],
    ["a substitution", "cat $(touch b)"],
    ["nothing", ""],
    ["another command beside it", "cat a && touch b"],
  ])("may write by %s", (_how, text) => expect(reads(text)).toBe(false));

  it("may write if the model names a shell that is no known one", () => {
    expect(reads("cat a", "/bin/bash")).toBe(true);
    expect(reads("cat a", "/usr/bin/python3")).toBe(false);
  });
});
