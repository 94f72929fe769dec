import { describe, expect, it } from "vitest";
import { commandActions } from "./command-actions.ts";
import { parseCommand } from "./parse-command.ts";

const actions = (text: string) => commandActions(parseCommand(text, "bash"), "/work");
const read = (command: string, path: string, name = path.split("/").at(-1)) => ({
  type: "read",
  command,
  name,
  path,
});
const list = (command: string, path: string | null) => ({ type: "listFiles", command, path });
const search = (command: string, query: string | null, path: string | null) => ({
  type: "search",
  command,
  query,
  path,
});

describe("what a command does", () => {
  it.each<[string, unknown[]]>([
    ["ls -la", [list("ls -la", null)]],
    ["ls packages/app/src/", [list("ls packages/app/src/", "app")]],
    ["ls && cat x", [list("ls", null), read("cat x", "/work/x")]],
    ["cat x y", [{ type: "unknown", command: "cat x y" }]],
    ["cd sub && cat x", [read("cat x", "/work/sub/x")]],
    ["sed -n 1,20p src/a.ts", [read("sed -n 1,20p src/a.ts", "/work/src/a.ts")]],
    ["nl -ba a.ts | sed -n 5,9p", [read("nl -ba a.ts", "/work/a.ts")]],
    ["head -n 5 /etc/hosts", [read("head -n 5 /etc/hosts", "/etc/hosts")]],
    ["rg --files src | head -n 40", [list("rg --files src", "src")]],
    ["rg -n 'a b' -g '*.ts' src/x", [search("rg -n 'a b' -g '*.ts' src/x", "a b", "x")]],
    ["grep -rn -e foo .", [search("grep -rn -e foo .", "foo", ".")]],
    ["find . -name '*.ts'", [search("find . -name '*.ts'", "*.ts", ".")]],
    ["find src -type f", [list("find src -type f", "src")]],
    ["git grep foo", [search("git grep foo", "foo", null)]],
    ["git ls-files", [list("git ls-files", null)]],
    ["echo hi && ls", [list("ls", null)]],
    ["ls || true", [list("ls", null)]],
    ["cat x | wc -l", [read("cat x", "/work/x")]],
    ["ls; ls", [list("ls", null)]],
  ])("%j is shown as it is", (text, expected) => {
    expect(actions(text)).toEqual(expected);
  });

  it.each([
    "echo one",
    "ls && rm -rf sub",
    "touch a",
    "cat $HOME/x",
    "ls > x",
    "sed -i s/a/b/ x",
    "find . -delete",
    "wc -l",
    "ls && make",
    "sleep 30; echo late",
    "cat x | sed -n '1e ./x.sh'",
    "cat x | sed -n 'w y'",
    "cat x | sort -o y",
    "cat x | sort --compress-program=./x.sh",
    "cat x | uniq - y",
    "cat x | uniq x y",
    "cat x && git grep -O./x.sh a",
    "git grep --open-files-in-pager=./x.sh a",
    "cat x && printf -v 'a[$(./x.sh)]' y",
    "rg --pre ./x.sh a",
    "tree -o y",
    "fd -x ./x.sh",
    "less +!./x.sh x",
    "find . -fprintf y %p",
    "ack --pager=./x.sh a",
    "",
  ])("%j is unknown as a whole", (text) => {
    expect(actions(text)).toEqual([{ type: "unknown", command: text }]);
  });

  it("is unknown in a shell whose syntax is not known", () => {
    const [action] = commandActions(parseCommand("cat x", "unknown"), "/work");
    expect(action).toEqual({ type: "unknown", command: "cat x" });
  });
});
