import { describe, expect, it } from "vitest";
import { ruleFor } from "./command-and-network-rules.ts";
import { readRulesFile } from "./rules-file.ts";

const read = (text: string) => readRulesFile("a.rules", text);

describe("a rules file", () => {
  it("is read with comments, all kinds of strings, and arguments by place or name", () => {
    const { rules, bad } = read(`\uFEFF# Ours.
prefix_rule(
    pattern = ["git", ["push", 'pull',]],  # either
    decision = "prompt",
    justification = """two
lines""",
    match = [["git", "push", "-f"], "git pull 'a b'"],
    not_match = ["git status"],
)
prefix_rule(["ls"]); prefix_rule([r"a\\b", "\\x41\\u0042\\n"], "forbidden", justification=None)
network_rule(host = "API.example.com.:443", protocol = "https_connect", decision = "deny")
host_executable(name = "git", paths = ["/usr/bin/git"])
`);
    expect(bad).toBeNull();
    expect(rules.prefixes).toEqual([
      {
        pattern: [["git"], ["push", "pull"]],
        decision: "prompt",
        justification: "two\nlines",
        origin: { file: "a.rules", line: 2 },
      },
      { pattern: [["ls"]], decision: "allow", justification: null, origin: { file: "a.rules", line: 10 } },
      {
        pattern: [["a\\b"], ["AB\n"]],
        decision: "forbidden",
        justification: null,
        origin: { file: "a.rules", line: 10 },
      },
    ]);
    expect(rules.network).toEqual([
      {
        host: "api.example.com",
        protocol: "https",
        decision: "forbidden",
        justification: null,
        origin: { file: "a.rules", line: 11 },
      },
    ]);
    expect(rules.executables).toEqual(new Map([["git", ["/usr/bin/git"]]]));
  });

  it("may be empty", () => {
    expect(read("\r\n# nothing\r\n")).toEqual({
      rules: { prefixes: [], network: [], executables: new Map() },
      bad: null,
    });
  });

  it.each<[string, number, RegExp]>([
    ["x = 1", 1, /expected \(, found =/],
    ["\nfor x in []: pass", 2, /expected \(, found x/],
    ["load('x', 'y')", 1, /no function load/],
    ["prefix_rule(pattern=['a'] + ['b'])", 1, /unexpected "\+"/],
    ["prefix_rule(pattern=[f'a'])", 1, /expected ,|expected a string/],
    ["prefix_rule(pattern=[x])", 1, /expected a string or a list, found x/],
    ["prefix_rule(pattern=[])", 1, /pattern has to be a list of words/],
    ["prefix_rule(pattern=['a', []])", 1, /list of choices is empty/],
    ["prefix_rule(pattern=['a', 1])", 1, /unexpected "1"/],
    ["prefix_rule('a')", 1, /pattern has to be a list of words/],
    ["prefix_rule(['a'], decision='deny')", 1, /decision has to be/],
    ["prefix_rule(['a'], color='red')", 1, /no argument color/],
    ["prefix_rule(['a'], pattern=['b'])", 1, /given twice/],
    ["prefix_rule(pattern=['a'], 'allow')", 1, /positional argument follows/],
    ["prefix_rule(['a'], justification=' ')", 1, /justification is empty/],
    ["prefix_rule(['a'],\n match=['b'])", 1, /does not match its example "b"/],
    ["# x\nprefix_rule(['a'], not_match=['a b'])", 2, /matches "a b", which it should not/],
    ["prefix_rule(['a'], match=['a \"b'])", 1, /example without words/],
    ["prefix_rule(['a']) prefix_rule(['b'])", 1, /expected line end/],
    ["prefix_rule(['a'", 1, /expected ,/],
    ["prefix_rule(['a", 1, /not closed/],
    ["prefix_rule(['\\q'])", 1, /unknown escape/],
    ["network_rule('*.x', 'https', 'allow')", 1, /host has to name one host/],
    ["network_rule('http://x', 'https', 'allow')", 1, /host has to name one host/],
    ["network_rule('x', 'ftp', 'allow')", 1, /protocol has to be/],
    ["network_rule('x', 'http')", 1, /decision has to be/],
    ["host_executable('git', ['git'])", 1, /no absolute path of git/],
    ["host_executable('a/b', [])", 1, /without a folder/],
  ])("with %j has an error in line %i", (text, line, message) => {
    expect(read(text).bad).toMatchObject({ file: "a.rules", line, message: expect.stringMatching(message) });
  });

  it("that is bad allows nothing, and restricts what could be read of it", () => {
    for (const mistake of ["x = 1", "prefix_rule(['a'], color='red')", "prefix_rule(['a'], match=['b'])"]) {
      const { rules } = read(`prefix_rule(['ls'])\nprefix_rule(['curl'], 'forbidden')\n${mistake}`);
      expect(ruleFor(rules, ["ls"])).toBeNull();
      expect(ruleFor(rules, ["curl", "x"])?.decision).toBe("forbidden");
    }
  });
});
