import type { Command } from "commander";

export function addRules(bobbin: Command): void {
  const rules = bobbin
    .command("rules")
    .description("Show and change the rules for which commands a model may run without approval.")
    .addHelpText("after", EXAMPLES);
  rules
    .command("list")
    .description("Show all rules, and rules files that cannot be read.")
    .option(
      "-C, --cd <dir>",
      "include the rules of the project that contains this folder (default: the current folder)",
    )
    .option("--json", "print them as JSON")
    .action(async (options: { cd?: string; json?: boolean }, self: Command) => {
      const { listRules } = await import("./rules.ts");
      process.exitCode = await listRules({ ...options, config: self.optsWithGlobals().config });
    });
  rules
    .command("trust")
    .description("Trust the rules and configuration of a project, in their current version.")
    .argument("[dir]", "a folder of the project, instead of the current one")
    .addHelpText("after", TRUST)
    .action(async (dir: string | undefined, _options, self: Command) => {
      const { trustProject } = await import("./rules-trust.ts");
      process.exitCode = await trustProject(dir ?? ".", self.optsWithGlobals().config);
    });
  rules
    .command("distrust")
    .description("Do not trust a project: ignore what its rules allow.")
    .argument("[dir]", "a folder of the project, instead of the current one")
    .action(async (dir: string | undefined, _options, self: Command) => {
      const { distrustProject } = await import("./rules-trust.ts");
      process.exitCode = await distrustProject(dir ?? ".", self.optsWithGlobals().config);
    });
  rules
    .command("revoke")
    .description("Remove a permanent approval from default.rules.")
    .argument(
      "<words...>",
      "the words of the rule, for example git status, or a host, for example https://example.org",
    )
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { revokeRule } = await import("./rules.ts");
      process.exitCode = await revokeRule(words);
    });
  rules
    .command("grants")
    .description("Show or revoke the approvals that were given for the session of a thread.")
    .argument("<thread>", "the id of the thread")
    .option("--revoke <id>", "revoke the approval with this id")
    .option("--json", "print them as JSON")
    .action(async (thread: string, options: { revoke?: string; json?: boolean }, self: Command) => {
      const { threadGrants } = await import("./rules-grants.ts");
      process.exitCode = await threadGrants(thread, { ...options, config: self.optsWithGlobals().config });
    });
  rules
    .command("check")
    .description("Show whether a command would run, need approval, or be refused, and why.")
    .argument("<command>", "the command in quotes, or a URL such as https://example.org")
    .option("-C, --cd <dir>", "the folder in which it would run (default: the current folder)")
    .option("--outside", "assume that the model asks to run it outside the sandbox")
    .option("--json", "print the answer as JSON")
    .addHelpText("after", NOTES)
    .action(async (text: string, options: CheckOptions, self: Command) => {
      const { checkRules } = await import("./rules.ts");
      process.exitCode = await checkRules(text, { ...options, config: self.optsWithGlobals().config });
    });
}

export interface CheckOptions {
  readonly cd?: string;
  readonly outside?: boolean;
  readonly json?: boolean;
}

const TRUST = `
A project's rules are in .bobbin/rules/*.rules and .codex/rules/*.rules. Rules
that forbid a command or require approval always apply. Rules that allow a
command apply only if the project is trusted, until one of its files changes.
The trust is stored in [projects] of config.toml. In a trusted project, threads
may write to their folder unless sandbox_mode or default_permissions is
configured.
`;

const NOTES = `
Rules are read from rules/*.rules of the home and of the project, in the format
of the Codex CLI.

Exit code: 0 if the command would run without approval, 1 if it needs approval
or is refused.

Examples:
  bobbin rules check 'git push --force'
  bobbin rules check --outside 'npm install'
  bobbin rules check https://example.org
  bobbin rules check -c approval_policy=untrusted 'ls && cat x'
`;

const EXAMPLES = `
Examples:
  bobbin rules list                        all rules, also of this project
  bobbin rules check "git push --force"    what would become of this command
  bobbin rules revoke git status           takes back "always" for git status
  bobbin rules trust                       lets the rules of this project count
  bobbin rules grants 019a7c2e             what was allowed for a session
`;
