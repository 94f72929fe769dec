import { parse, parseDocument } from "@decimalturn/toml-patch";
import { describe, expect, it } from "vitest";
import { plain, type Table } from "../layered-config.ts";
import { changed } from "./config-edits.ts";
import { editToml } from "./toml-edit.ts";

const FILE = `# top
model = "x" # why

# my servers
[mcp_servers.zed]
command = "zed" # here
# inside
args = ["a"]

[mcp_servers.zed.env]
A = "b"

# about other
[other]
x = 1
`;

/** The text after a change, which has to say what was asked for; a table that is left empty need not be there. */
function edited(
  text: string,
  path: string,
  value: unknown,
  mergeStrategy: "replace" | "upsert" = "replace",
): string {
  const change = { path: path.split("."), value, mergeStrategy };
  const next = editToml(text, change, parseDocument);
  if (value !== null) expect(plain(parse(next))).toEqual(plain(changed(parse(text) as Table, change)));
  else parse(next);
  return next;
}

describe("a table of config.toml", () => {
  it("[WRITE-1] is added behind its family, and all else stays", () => {
    const value = { command: "npx", args: ["-y", "it's"], env: { "A.B": "c" } };
    expect(edited(FILE, "mcp_servers.one", value)).toBe(
      FILE.replace(
        `A = "b"\n`,
        `A = "b"\n\n[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "it's"]\n\n[mcp_servers.one.env]\n"A.B" = "c"\n`,
      ),
    );
  });

  it("[WRITE-1] is added at the end where it is the first of its family, and to an empty file", () => {
    const block = `[mcp_servers.one]\nurl = "https://x"\n`;
    const value = { url: "https://x" };
    expect(edited("a = 1\n\n[b]\nc = 2\n# end\n", "mcp_servers.one", value)).toBe(
      `a = 1\n\n[b]\nc = 2\n# end\n\n${block}`,
    );
    expect(edited("", "mcp_servers.one", value)).toBe(block);
    expect(edited("a = 1", "mcp_servers.one", value)).toBe(`a = 1\n\n${block}`);
  });

  it("[WRITE-1] is replaced where it is", () => {
    expect(edited(FILE, "mcp_servers.zed", { url: "https://x" })).toBe(
      `# top\nmodel = "x" # why\n\n# my servers\n[mcp_servers.zed]\nurl = "https://x"\n\n# about other\n[other]\nx = 1\n`,
    );
  });

  it("[WRITE-1] is removed with the tables in it, and nothing else is", () => {
    expect(edited(FILE, "mcp_servers.zed", null)).toBe(
      `# top\nmodel = "x" # why\n\n# my servers\n\n# about other\n[other]\nx = 1\n`,
    );
    const added = edited(FILE, "mcp_servers.one", { url: "https://x" });
    expect(edited(added, "mcp_servers.one", null)).toBe(FILE);
    expect(edited(`[mcp_servers.one]\nurl = "x"`, "mcp_servers.one", null)).toBe("");
    expect(edited(`a = 1\n\n[b]\nc = 1\n`, "b", null)).toBe("a = 1\n");
  });

  it("[WRITE-1] is known however its name is written", () => {
    for (const header of ['[mcp_servers."one"]', "[ mcp_servers . 'one' ] # c", "[mcp_servers.one]"])
      expect(edited(`${header}\nurl = "x"\n\n[b]\n`, "mcp_servers.one", null)).toBe("[b]\n");
    expect(edited('[mcp_servers."a b"]\nurl = "x"\n', "mcp_servers.a b", { url: "y" })).toBe(
      '[mcp_servers."a b"]\nurl = "y"\n',
    );
  });

  it("[WRITE-1] keeps line ends and a byte order mark as they are", () => {
    const text = `\uFEFF${FILE.replaceAll("\n", "\r\n")}`;
    const next = edited(text, "mcp_servers.one", { url: "https://x" });
    expect(next.replaceAll("\r\n", "")).not.toContain("\n");
    expect(edited(next, "mcp_servers.one", null)).toBe(text);
    expect(edited(text, "model", "y")).toBe(text.replace('model = "x"', 'model = "y"'));
  });

  it("[WRITE-1] is merged key by key", () => {
    const value = { command: "zed2", env: { B: "c" }, cwd: "/" };
    expect(edited(FILE, "mcp_servers.zed", value, "upsert")).toBe(
      FILE.replace('"zed" # here', '"zed2" # here')
        .replace('args = ["a"]\n', 'args = ["a"]\ncwd = "/"\n')
        .replace('A = "b"\n', 'A = "b"\nB = "c"\n'),
    );
  });
});

describe("a list of tables", () => {
  it("[WRITE-2] is added, each table below a header of its own", () => {
    const value = [
      { path: "/a", enabled: false },
      { name: "b", more: { x: 1 }, list: [{ y: 2 }] },
    ];
    const block = `[[skills.config]]
path = "/a"
enabled = false

[[skills.config]]
name = "b"

[skills.config.more]
x = 1

[[skills.config.list]]
y = 2
`;
    expect(edited(FILE, "skills.config", value)).toBe(`${FILE}\n${block}`);
    expect(edited("", "skills.config", value)).toBe(block);
    expect(edited("", "skills", { config: value })).toBe(block);
  });

  it("[WRITE-2] is replaced where it is, and removed with what is in it", () => {
    const text = `# a\n[[l]] # one\nx = 1\n\n[l.m]\ny = 1\n\n# two\n[[l]]\nx = 2\n\n[z]\n`;
    expect(edited(text, "l", [{ x: 3 }])).toBe(`# a\n[[l]]\nx = 3\n\n# two\n\n[z]\n`);
    expect(edited(text, "l", null)).toBe(`# a\n\n# two\n\n[z]\n`);
    expect(edited(text, "l", [1])).toBe(`# a\n\n# two\n\nl = [1]\n\n[z]\n`);
    expect(edited(text, "l.x", null)).toBe(text);
    expect(edited(text, "l.m", 1)).toBe(`# a\n\n# two\n\n[z]\n\n[l]\nm = 1\n`);
  });

  it("[WRITE-2] stays in one line where it is written in one", () => {
    expect(edited("l = [{ x = 1 }] # c\n", "l", [{ x: 2 }, { y: "z" }])).toBe(
      'l = [{ x = 2 }, { y = "z" }] # c\n',
    );
  });
});

describe("a value of config.toml", () => {
  it.each([
    ["a = 1 # c\nb = 2\n", "a", [1, "x"], 'a = [1, "x"] # c\nb = 2\n'],
    ["a = 1 # c\nb = 2\n", "a", null, "b = 2\n"],
    ["a = 1 # c\n", "z", "é\u007f\n", 'a = 1 # c\nz = "é\\u007f\\n"\n'],
    ["# top\n", "z", 1, "# top\nz = 1\n"],
    ["# about x\n[x]\n", "z", 1, "z = 1\n\n# about x\n[x]\n"],
    ["# top\n\n# about x\n[x]\n", "z", 1, "# top\n\nz = 1\n\n# about x\n[x]\n"],
    ["[x]\na = 1\n\n[y]\n", "x.b", 2, "[x]\na = 1\nb = 2\n\n[y]\n"],
    ["[x]\n# c\n\n[y]\n", "x.b", 2, "[x]\nb = 2\n# c\n\n[y]\n"],
    ["[x.y]\na = 1\n", "x.b", 2, "[x.y]\na = 1\n\n[x]\nb = 2\n"],
    ["x.a = 1\ny = 2\n", "x.b", 2, "x.a = 1\nx.b = 2\ny = 2\n"],
    ["x.a = 1\ny = 2\n", "x.b.c", 2, "x.a = 1\nx.b.c = 2\ny = 2\n"],
    ["[t]\nx.a = 1\n", "t.x.b", { c: 2 }, "[t]\nx.a = 1\nx.b = { c = 2 }\n"],
    ["x.a = 1\nx.b = 2\n", "x", { c: 1 }, "[x]\nc = 1\n"],
    ["x = { a = 1 } # c\n", "x.b.c", 2, "x = { a = 1, b = { c = 2 } } # c\n"],
    ["x = {}\n", "x.b", 2, "x = { b = 2 }\n"],
    ["x = { a = 1, b = 2, c = 3 }\n", "x.b", null, "x = { a = 1, c = 3 }\n"],
    ["x = { a = 1, b = 2 }\n", "x.b", null, "x = { a = 1 }\n"],
    ["x = { a = 1 }\n", "x.a", null, "x = {}\n"],
    ["x = { a.b = 1, a.c = 2, d = 3 }\n", "x.a", 1, "x = { d = 3, a = 1 }\n"],
    ["x = 1 # c\n", "x.y.z", 2, "[x.y]\nz = 2\n"],
    ["[x]\na = 1\n", "x", 5, "x = 5\n"],
    [
      's = """\n# no comment\n[no.header]\n""" # c\n[x]\n',
      "x.a",
      1,
      's = """\n# no comment\n[no.header]\n""" # c\n[x]\na = 1\n',
    ],
    ["a = [ # c\n  1,\n]\nb = 1\n", "b", 2, "a = [ # c\n  1,\n]\nb = 2\n"],
    ["", "big", 1e19, "big = 10000000000000000000.0\n"],
    ["", "__proto__.x", true, "[__proto__]\nx = true\n"],
    ['"😀" = 1 # c\nb = 2\n', "b", 3, '"😀" = 1 # c\nb = 3\n'],
    ['k = { "😀" = 1, b = 2 } # c\n', "k.b", 3, 'k = { "😀" = 1, b = 3 } # c\n'],
  ])("[WRITE-1] %j: %s becomes %j", (text, path, value, after) => {
    expect(edited(text, path, value)).toBe(after);
  });
});
