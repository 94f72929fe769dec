import type { AskForApproval, SandboxPolicy } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { NO_RULES, type Rules } from "./command-and-network-rules.ts";
import type { Consent, ConsentRequest, Intent } from "./consent.ts";
import { decideConsent } from "./decide-consent.ts";
import { parseCommand } from "./parse-command.ts";
import { readRulesFile } from "./rules-file.ts";
import { syntaxOf } from "./shell-syntax.ts";

const WORKSPACE: SandboxPolicy = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};
const FULL: SandboxPolicy = { type: "dangerFullAccess" };
const granular = (given: Partial<Extract<AskForApproval, object>["granular"]>): AskForApproval => ({
  granular: {
    sandbox_approval: false,
    rules: false,
    mcp_elicitations: false,
    request_permissions: false,
    skill_approval: false,
    ...given,
  },
});

function rules(text: string): Rules {
  const read = readRulesFile("test.rules", text);
  expect(read.bad).toBeNull();
  return read.rules;
}

function decide(what: Intent, given: Partial<ConsentRequest> = {}): Consent {
  return decideConsent({
    what,
    policy: "on-request",
    sandbox: WORKSPACE,
    roots: ["/work"],
    sandboxProblem: null,
    rules: NO_RULES,
    grants: [],
    ...given,
  });
}

const command = (text: string, more: Partial<Extract<Intent, { kind: "command" }>> = {}): Intent => ({
  kind: "command",
  command: parseCommand(text, more.shell == null ? "bash" : syntaxOf(more.shell)),
  escalate: false,
  justification: null,
  prefixRule: null,
  workdir: "/work",
  ...more,
});

const ALLOWED = rules('prefix_rule(pattern=["git", ["status", "push"]])\nprefix_rule(pattern=["ls"])');
const RESTRICTED = rules(
  'prefix_rule(pattern=["git", "push"], decision="prompt", justification="It is public")\n' +
    'prefix_rule(pattern=["curl"], decision="forbidden", justification="Use the mirror.")\n' +
    'prefix_rule(pattern=["git"])',
);

describe("a command that no rule names", () => {
  it("runs in the sandbox unless more is wanted", () => {
    for (const policy of ["on-request", "never", granular({})] as const)
      expect(decide(command("make x > y"), { policy })).toEqual({ kind: "sandboxed" });
    expect(decide(command("make x"), { sandbox: FULL })).toEqual({ kind: "sandboxed" });
  });

  it("is asked about when the model wants it outside of the sandbox, with the model's reason", () => {
    const what = command("make x", { escalate: true, justification: "May I?" });
    expect(decide(what)).toMatchObject({ kind: "ask", reason: "May I?", runs: "unsandboxed" });
    expect(decide(what, { policy: granular({ sandbox_approval: true }) })).toMatchObject({ kind: "ask" });
    expect(decide(what, { sandbox: FULL })).toEqual({ kind: "sandboxed" });
    for (const policy of ["never", granular({ rules: true })] as const)
      expect(decide(what, { policy })).toMatchObject({
        kind: "refuse",
        reason: expect.stringContaining("this thread is set to ask nobody"),
      });
  });

  it("[SANDBOX-9] is asked about where it changes settings of a repository, to run outside of the sandbox", () => {
    const what = command("git fetch && git remote add x y");
    expect(decide(what)).toMatchObject({
      kind: "ask",
      reason: "It changes settings of the repository that the sandbox protects",
      runs: "unsandboxed",
    });
    expect(decide(what, { policy: "never" })).toMatchObject({
      kind: "refuse",
      reason: expect.stringContaining("so it has to run outside, and this thread is set to ask nobody"),
    });
    expect(decide(what, { sandbox: FULL })).toEqual({ kind: "sandboxed" });
    // In the folders of a subject nothing of a repository is protected, and nothing runs outside.
    expect(decide(what, { confined: true })).toEqual({ kind: "sandboxed" });
  });

  it("is always asked about in an untrusted folder, and then runs in the sandbox", () => {
    expect(decide(command("ls && cat x"), { policy: "untrusted" })).toMatchObject({
      kind: "ask",
      reason: null,
      runs: "sandboxed",
    });
    expect(decide(command("ls"), { policy: "untrusted", sandbox: FULL })).toMatchObject({ kind: "ask" });
  });

  it("is asked about when it removes files by force, in every sandbox", () => {
    for (const sandbox of [WORKSPACE, FULL]) {
      expect(decide(command("ls && rm -rf x"), { sandbox })).toMatchObject({ kind: "ask", amendment: null });
      expect(decide(command("rm -rf x"), { sandbox, policy: "never" })).toMatchObject({ kind: "refuse" });
    }
  });

  it("is asked about when it cannot be read", () => {
    expect(decide(command("(".repeat(100)))).toMatchObject({
      kind: "ask",
      reason: "It could not be read: it is nested too deeply",
    });
  });
});

describe("on a host whose listener does not know who connects", () => {
  const listenerProblem = "anybody can connect";
  const online = { ...WORKSPACE, networkAccess: true } as const;

  it("[OWN-3] a command with network is asked about, with that as the reason", () => {
    expect(decide(command("ls"), { listenerProblem, sandbox: online })).toMatchObject({
      kind: "ask",
      reason: "It has the network, and anybody can connect",
      runs: "sandboxed",
    });
    expect(decide(command("ls"), { listenerProblem, sandbox: online, policy: "never" })).toMatchObject({
      kind: "refuse",
      reason: expect.stringContaining(listenerProblem),
    });
  });

  it("[OWN-3] a command without network is not, nor one that a rule allows", () => {
    expect(decide(command("ls"), { listenerProblem })).toEqual({ kind: "sandboxed" });
    expect(decide(command("ls"), { listenerProblem, sandbox: online, rules: ALLOWED })).toMatchObject({
      kind: "unsandboxed",
    });
    expect(decide(command("ls"), { sandbox: online })).toEqual({ kind: "sandboxed" });
  });
});

describe("without a sandbox", () => {
  const sandboxProblem = "bubblewrap is not installed";

  it("every command that no rule allows is asked about, with that as the reason", () => {
    expect(decide(command("ls"), { sandboxProblem })).toMatchObject({
      kind: "ask",
      reason: "It runs without a sandbox: bubblewrap is not installed",
      runs: "unsandboxed",
    });
    expect(decide(command("ls"), { sandboxProblem, rules: ALLOWED })).toMatchObject({ kind: "unsandboxed" });
    expect(decide(command("ls"), { sandboxProblem, policy: "never" })).toMatchObject({
      kind: "refuse",
      reason: expect.stringContaining(sandboxProblem),
    });
  });

  it("nothing changes where none is wanted", () => {
    expect(decide(command("ls"), { sandboxProblem, sandbox: FULL })).toEqual({ kind: "sandboxed" });
  });

  it("a grant for the sandbox does not count outside of it", () => {
    const inside = decide(command("ls"), { policy: "untrusted" });
    const grants = [(inside as Extract<Consent, { kind: "ask" }>).grant];
    expect(decide(command("ls"), { policy: "untrusted", grants })).toEqual({ kind: "sandboxed" });
    expect(decide(command("ls"), { policy: "untrusted", grants, sandboxProblem })).toMatchObject({
      kind: "ask",
    });
  });
});

describe("rules that may not all be known", () => {
  const rulesProblem = "/work/.codex/rules/a.rules:1: it cannot be read";

  it("make every command a question, also one that a rule allows and one without a sandbox", () => {
    for (const given of [{}, { rules: ALLOWED }, { sandbox: FULL }]) {
      expect(decide(command("git status"), { ...given, rulesProblem })).toMatchObject({
        kind: "ask",
        reason: `A rule may forbid it: ${rulesProblem}`,
        amendment: null,
      });
      expect(decide(command("git status"), { ...given, rulesProblem, policy: "never" })).toMatchObject({
        kind: "refuse",
      });
    }
    expect(decide(command("curl x"), { rules: RESTRICTED, rulesProblem })).toMatchObject({ kind: "refuse" });
  });

  it("make every connection a question", () => {
    const what: Intent = {
      kind: "network",
      host: "a.example",
      port: 443,
      protocol: "https",
      listed: "allow",
    };
    const allowing = rules('network_rule(host="a.example", protocol="https", decision="allow")');
    for (const given of [{}, { rules: allowing }, { sandbox: FULL }]) {
      expect(decide(what, { ...given, rulesProblem })).toMatchObject({ kind: "ask", amendment: null });
      expect(decide(what, { ...given, rulesProblem, policy: "never" })).toMatchObject({ kind: "refuse" });
    }
  });
});

it("a rule that restricts a host for one protocol counts for others that no rule names", () => {
  const http: Intent = { kind: "network", host: "a.example", port: 80, protocol: "http", listed: "allow" };
  const deny = 'network_rule(host="a.example", protocol="https", decision="deny")\n';
  const allow = 'network_rule(host="a.example", protocol="http", decision="allow")\n';
  expect(decide(http, { rules: rules(deny) })).toMatchObject({ kind: "refuse" });
  expect(decide({ ...http, protocol: "socks5_tcp" }, { rules: rules(deny + allow) })).toMatchObject({
    kind: "refuse",
  });
  expect(decide(http, { rules: rules(deny + allow) })).toEqual({ kind: "sandboxed" });
  expect(decide({ ...http, protocol: "https", listed: null }, { rules: rules(allow) })).toMatchObject({
    kind: "ask",
  });
});

describe("rules", () => {
  it("let a command run outside of the sandbox only if they allow each of its parts", () => {
    expect(decide(command("git status && ls -la"), { rules: ALLOWED })).toMatchObject({
      kind: "unsandboxed",
    });
    expect(decide(command("git status && make"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
    expect(decide(command("git status > x"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
    expect(decide(command("git status $(make)"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
    expect(decide(command("git status\nmake"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
    expect(decide(command("gitx status"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
  });

  it("count with the strictest that fits", () => {
    expect(decide(command("git push"), { rules: RESTRICTED })).toMatchObject({
      kind: "ask",
      reason: "It is public",
      amendment: null,
    });
    expect(decide(command("git pull"), { rules: RESTRICTED })).toMatchObject({ kind: "unsandboxed" });
    expect(decide(command("git pull && curl x"), { rules: RESTRICTED })).toEqual({
      kind: "refuse",
      reason: "The command was not run: a rule forbids `curl`. Use the mirror.",
    });
  });

  it("allow nothing in a program that may be no shell", () => {
    for (const shell of ["/bin/bash", "zsh", "/usr/bin/sh", null])
      expect(decide(command("git status", { shell }), { rules: ALLOWED })).toMatchObject({
        kind: "unsandboxed",
      });
    for (const shell of ["/work/bash", "./bash", "/usr/bin/python3", "/bin/../work/sh", "fish"]) {
      expect(decide(command("git status", { shell }), { rules: ALLOWED })).toMatchObject({
        kind: "ask",
        reason: "It could not be read: its shell is not one whose syntax is known",
        runs: "sandboxed",
      });
      expect(decide(command("git status", { shell }), { rules: ALLOWED, policy: "never" })).toMatchObject({
        kind: "refuse",
      });
      expect(decide(command("curl x", { shell }), { rules: RESTRICTED })).toMatchObject({ kind: "refuse" });
      const asked = decide(command("git status", { shell, escalate: true })) as Extract<
        Consent,
        { kind: "ask" }
      >;
      expect(asked).toMatchObject({ kind: "ask", amendment: null });
      expect(decide(command("git status", { escalate: true }), { grants: [asked.grant] })).toMatchObject({
        kind: "ask",
      });
    }
  });

  it("restrict a command wherever it stands", () => {
    for (const text of [
      "echo $(curl x)",
      "bash -c 'curl x'",
      "sudo curl x",
      "/opt/curl x",
      "if a; then curl x; fi",
    ])
      expect(decide(command(text), { rules: RESTRICTED })).toMatchObject({ kind: "refuse" });
    expect(decide(command("git push > log"), { rules: RESTRICTED })).toMatchObject({ kind: "ask" });
  });

  it("that ask are no question where the policy forbids it", () => {
    const what = command("git push");
    for (const policy of ["never", granular({ sandbox_approval: true })] as const)
      expect(decide(what, { rules: RESTRICTED, policy })).toMatchObject({ kind: "refuse" });
    expect(decide(what, { rules: RESTRICTED, policy: granular({ rules: true }) })).toMatchObject({
      kind: "ask",
    });
  });

  it("allow a program by its path only where that path is listed", () => {
    expect(decide(command("/tmp/git status"), { rules: ALLOWED })).toEqual({ kind: "sandboxed" });
    const listed = rules('prefix_rule(pattern=["git"])\nhost_executable(name="git", paths=["/usr/bin/git"])');
    expect(decide(command("/usr/bin/git status"), { rules: listed })).toMatchObject({ kind: "unsandboxed" });
    expect(decide(command("/tmp/git status"), { rules: listed })).toEqual({ kind: "sandboxed" });
  });

  it("never let a confined thread out", () => {
    expect(decide(command("ls"), { rules: ALLOWED, confined: true })).toEqual({ kind: "sandboxed" });
    expect(decide(command("make", { escalate: true }), { confined: true })).toMatchObject({ kind: "refuse" });
    expect(decide(command("make"), { confined: true, sandboxProblem: "there is none" })).toMatchObject({
      kind: "refuse",
    });
  });
});

describe("a command with additional permissions", () => {
  const additional = { network: true, write: ["/srv/data"] };
  const asks = command("make", { additional });

  it("[PERMIT-5] is asked about, runs in the sandbox, and can become no rule", () => {
    expect(decide(asks)).toMatchObject({
      kind: "ask",
      reason: "It is to use the network, write to /srv/data",
      amendment: null,
      runs: "sandboxed",
    });
    expect(decide(command("make", { additional, justification: "May I?" }))).toMatchObject({
      reason: "May I?",
    });
  });

  it("[PERMIT-5] is refused where nobody is asked, and in a thread that stays confined", () => {
    expect(decide(asks, { policy: "never" })).toMatchObject({
      kind: "refuse",
      reason: expect.stringContaining("more than the sandbox allows has to be approved"),
    });
    expect(decide(asks, { confined: true })).toMatchObject({ kind: "refuse" });
  });

  it("[PERMIT-5] is granted with exactly these permissions", () => {
    const consent = decide(asks);
    if (consent.kind !== "ask") throw new Error(consent.kind);
    const grants = [consent.grant];
    expect(decide(asks, { grants })).toEqual({ kind: "sandboxed" });
    for (const other of [
      { network: false, write: ["/srv/data"] },
      { network: true, write: ["/srv"] },
      { network: true, write: ["/srv/data", "/etc"] },
    ])
      expect(decide(command("make", { additional: other }), { grants })).toMatchObject({ kind: "ask" });
    expect(decide(command("make"), { policy: "untrusted", grants })).toMatchObject({ kind: "ask" });
  });

  it("needs none of them where it runs without a sandbox", () => {
    expect(decide(asks, { rules: rules('prefix_rule(["make"])') })).toMatchObject({ kind: "unsandboxed" });
    expect(decide(asks, { sandbox: { type: "dangerFullAccess" } })).toEqual({ kind: "sandboxed" });
    expect(decide(asks, { sandboxProblem: "there is none" })).toMatchObject({
      kind: "ask",
      runs: "unsandboxed",
      reason: expect.stringContaining("there is none"),
    });
  });

  it("names what the network could reach", () => {
    expect(decide(asks, { listenerProblem: "a command could answer for you" })).toMatchObject({
      reason: expect.stringContaining("a command could answer for you"),
    });
  });
});

describe("what can be granted", () => {
  const ask = (what: Intent, given: Partial<ConsentRequest> = {}): Extract<Consent, { kind: "ask" }> => {
    const consent = decide(what, { policy: "untrusted", ...given });
    if (consent.kind !== "ask") throw new Error(`expected a question, got ${consent.kind}`);
    return consent;
  };

  it("is exactly that command in that folder, inside or outside", () => {
    const grants = [ask(command("make x")).grant];
    expect(decide(command("make x"), { policy: "untrusted", grants })).toEqual({ kind: "sandboxed" });
    for (const other of [
      command("make x "),
      command("make y"),
      command("make x", { workdir: "/other" }),
      command("make x", { escalate: true }),
    ])
      expect(decide(other, { policy: "untrusted", grants })).toMatchObject({ kind: "ask" });
    const long = command(`echo ${"x".repeat(5000)}`);
    expect(ask(long).grant.length).toBeLessThan(1024);
    expect(decide(long, { policy: "untrusted", grants: [ask(long).grant] })).toEqual({ kind: "sandboxed" });
  });

  it("does not make up for a rule that forbids", () => {
    const grants = [ask(command("curl x")).grant];
    expect(decide(command("curl x"), { rules: RESTRICTED, grants })).toMatchObject({ kind: "refuse" });
  });

  it.each<[string, string[] | null, string[] | null]>([
    ["echo one two", ["echo", "one"], ["echo", "one"]],
    ["echo one two", null, ["echo", "one", "two"]],
    ["echo one two", ["cat"], ["echo", "one", "two"]],
    ["ls -a x", ["ls"], ["ls"]],
    // Git runs programs that the repository of its working folder names.
    ["git status -s", ["git", "status"], null],
    ["git cat-file --filters a", null, null],
    ["git -C x status", null, null],
    ["git -c core.pager=./x status", null, null],
    ["ls a && ls a b", ["ls", "a"], ["ls", "a"]],
    ["ls a && pwd", ["ls"], null],
    ["ls > x", ["ls"], null],
    ...[
      "git push origin main",
      "git commit -a",
      "git log -1",
      "git grep a",
      "npm run build",
      "npm test",
      "make all",
      "cargo build",
      "python3 x.py",
      "python3.11 x.py",
      "perl5.36 x.pl",
      "capsh -- -c x",
      "bash -lc ls",
      "./build.sh",
      "build.sh",
      "../ls a",
      "/usr/bin/ls a",
      "timeout 5 ls",
      "/usr/bin/env ls",
      "sudo ls",
      "rm x",
      "sort a",
      "find .",
      "printf a",
      "cp a b",
    ].flatMap((text): [string, string[] | null, null][] => {
      const words = text.split(" ");
      return [
        [text, null, null],
        ...words.map((_, at): [string, string[], null] => [text, words.slice(0, at + 1), null]),
      ];
    }),
  ])("for good, of %j with the suggestion %j, is %j", (text, prefixRule, amendment) => {
    expect(ask(command(text, { prefixRule })).amendment).toEqual(amendment);
  });

  it("for good would answer the same question", () => {
    const consent = ask(command("cat all && ls"), { rules: ALLOWED });
    expect(consent.amendment).toEqual(["cat", "all"]);
    const more = rules('prefix_rule(pattern=["cat", "all"])\nprefix_rule(pattern=["ls"])');
    expect(decide(command("cat all && ls"), { policy: "untrusted", rules: more })).toMatchObject({
      kind: "unsandboxed",
    });
  });
});

describe("input to a process", () => {
  it("is asked about when the process runs outside of the sandbox, unless granted for it", () => {
    const stdin: Intent = { kind: "stdin", process: "7", outside: true };
    const consent = decide(stdin) as Extract<Consent, { kind: "ask" }>;
    expect(consent).toMatchObject({ kind: "ask", runs: "unsandboxed" });
    expect(decide(stdin, { grants: [consent.grant] })).toMatchObject({ kind: "unsandboxed" });
    expect(decide({ ...stdin, process: "8" }, { grants: [consent.grant] })).toMatchObject({ kind: "ask" });
    expect(decide({ ...stdin, outside: false })).toEqual({ kind: "sandboxed" });
    expect(decide(stdin, { sandbox: FULL })).toEqual({ kind: "sandboxed" });
    expect(decide(stdin, { policy: "never" })).toMatchObject({ kind: "refuse" });
  });
});

describe("a patch", () => {
  const patch = (...paths: string[]): Intent => ({ kind: "patch", paths });

  it.each(["", "{", "null", "7", '{"0":"/etc/b"}', '["/etc/b",7]'])(
    "[DAMAGE-3] is asked about if the grant for it cannot be read: %j",
    (text) => {
      expect(decide(patch("/etc/b"), { grants: [`patch ${text}`] })).toMatchObject({ kind: "ask" });
    },
  );

  it("is applied in the workspace, and asked about elsewhere", () => {
    expect(decide(patch("/work/a"))).toEqual({ kind: "sandboxed" });
    const outside = decide(patch("/work/a", "/etc/b"));
    expect(outside).toMatchObject({ kind: "ask", reason: expect.stringContaining("/etc/b") });
    const grants = [(outside as Extract<Consent, { kind: "ask" }>).grant];
    expect(decide(patch("/etc/b"), { grants })).toEqual({ kind: "sandboxed" });
    expect(decide(patch("/etc/c"), { grants })).toMatchObject({ kind: "ask" });
    expect(decide(patch("/work/.git/hooks/x"))).toMatchObject({ kind: "ask" });
    expect(decide(patch("/workx/a"))).toMatchObject({ kind: "ask" });
    expect(decide(patch("/etc/b"), { policy: "never" })).toMatchObject({ kind: "refuse" });
    expect(decide(patch("/work/a"), { policy: "untrusted" })).toMatchObject({ kind: "ask", reason: null });
    expect(decide(patch("/etc/b"), { sandbox: FULL })).toEqual({ kind: "sandboxed" });
  });

  it("[PATCH-17] goes by the profile of its thread, and asks about what hosts act on in any case", () => {
    const by = (unwritable: readonly string[], ...paths: string[]) =>
      decide({ kind: "patch", paths, unwritable });
    expect(by([], "/work/a", "/srv/b")).toEqual({ kind: "sandboxed" });
    expect(by(["/work/a"], "/work/a", "/srv/b")).toMatchObject({ kind: "ask" });
    expect(by([], "/work/.codex/config.toml")).toMatchObject({ kind: "ask" });
    expect(by([], "/srv/.git/hooks/x")).toMatchObject({ kind: "ask" });
  });
});

describe("a tool, permissions and a host", () => {
  it("are asked about where the policy lets them be", () => {
    const tool: Intent = { kind: "tool", key: "server tool", asks: true };
    const permissions: Intent = { kind: "permissions", key: "permissions x", reason: "I need it" };
    const network: Intent = { kind: "network", host: "Example.com", port: 443, protocol: "https" };
    const flags = [
      [tool, "mcp_elicitations"],
      [permissions, "request_permissions"],
      [network, "sandbox_approval"],
    ] as const;
    for (const [what, flag] of flags) {
      const consent = decide(what) as Extract<Consent, { kind: "ask" }>;
      expect(consent.kind).toBe("ask");
      expect(decide(what, { grants: [consent.grant] })).toEqual({ kind: "sandboxed" });
      expect(decide(what, { policy: "never" })).toMatchObject({ kind: "refuse" });
      expect(decide(what, { policy: granular({}) })).toMatchObject({ kind: "refuse" });
      expect(decide(what, { policy: granular({ [flag]: true }) })).toMatchObject({ kind: "ask" });
    }
    expect(decide({ ...tool, asks: false }, { policy: "never" })).toEqual({ kind: "sandboxed" });
  });

  it("of a host follow the network rules", () => {
    const network: Intent = { kind: "network", host: "Example.com", port: 443, protocol: "https" };
    const of = (decision: string): Rules =>
      rules(`network_rule(host="example.com", protocol="https", decision="${decision}")`);
    expect(decide(network, { rules: of("allow"), policy: "never" })).toEqual({ kind: "sandboxed" });
    expect(decide(network, { rules: of("deny") })).toMatchObject({ kind: "refuse" });
    expect(decide({ ...network, protocol: "http" }, { rules: of("allow") })).toMatchObject({ kind: "ask" });
    expect(decide(network, { sandbox: { ...WORKSPACE, networkAccess: true } as SandboxPolicy })).toEqual({
      kind: "sandboxed",
    });
  });

  it("[NETWORK-1] of a host follow what is listed, unless a rule is stricter", () => {
    const network: Intent = { kind: "network", host: "example.com", port: 443, protocol: "https" };
    const of = (decision: string): Rules =>
      rules(`network_rule(host="example.com", protocol="https", decision="${decision}")`);
    const listed = { ...network, listed: "allow" } as const;
    expect(decide(listed, { policy: "never" })).toEqual({ kind: "sandboxed" });
    expect(decide(listed, { rules: of("deny") })).toMatchObject({ kind: "refuse" });
    expect(decide(listed, { rules: of("prompt") })).toMatchObject({ kind: "ask", amendment: null });
    const denied = { ...network, listed: "deny" } as const;
    expect(decide(denied, { rules: of("allow") })).toMatchObject({ kind: "refuse" });
    expect(decide(denied, { grants: ["network https example.com:443"] })).toMatchObject({ kind: "refuse" });
  });

  it("[NETWORK-3] of a host can be remembered, for good only where the thread is the host's own user's", () => {
    const network: Intent = { kind: "network", host: "example.com", port: 8443, protocol: "https" };
    const grant = "network https example.com:8443";
    expect(decide(network)).toMatchObject({
      kind: "ask",
      grant,
      amendment: ["example.com"],
      reason: "On port 8443",
    });
    expect(decide(network, { confined: true })).toMatchObject({ kind: "ask", grant, amendment: null });
    expect(decide(network, { grants: [grant] })).toEqual({ kind: "sandboxed" });
    expect(decide({ ...network, port: 443 }, { grants: [grant] })).toMatchObject({
      kind: "ask",
      reason: null,
    });
  });
});
