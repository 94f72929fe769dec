import type { Command } from "commander";

export function addRules(bobbin: Command): void {
  const rules = bobbin
    .command("rules")
    .description("Show and change what commands of models may do without asking.");
  rules
    .command("list")
    .description("Show all rules, and files that cannot be read.")
    .option("-C, --cd <dir>", "with the rules of the project around this folder, instead of the current one")
    .option("--json", "print them as JSON")
    .action(async (options: { cd?: string; json?: boolean }, self: Command) => {
      const { listRules } = await import("./run-rules.ts");
      process.exitCode = await listRules({ ...options, config: self.optsWithGlobals().config });
    });
  rules
    .command("trust")
    .description("Let the rules of a project count, as they are now.")
    .argument("[dir]", "a folder of the project, instead of the current one")
    .addHelpText("after", TRUST)
    .action(async (dir: string | undefined, _options, self: Command) => {
      const { trustProject } = await import("./run-trust.ts");
      process.exitCode = await trustProject(dir ?? ".", self.optsWithGlobals().config);
    });
  rules
    .command("distrust")
    .description("Remember that a project is not trusted: what its rules allow does not count.")
    .argument("[dir]", "a folder of the project, instead of the current one")
    .action(async (dir: string | undefined, _options, self: Command) => {
      const { distrustProject } = await import("./run-trust.ts");
      process.exitCode = await distrustProject(dir ?? ".", self.optsWithGlobals().config);
    });
  rules
    .command("revoke")
    .description("Take back what was allowed for good: a line of default.rules.")
    .argument("<words...>", "the words of the rule, for example: git status; or a host: https://example.org")
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { revokeRule } = await import("./run-rules.ts");
      process.exitCode = await revokeRule(words);
    });
  rules
    .command("grants")
    .description("Show what was allowed for the session of a thread, or take it back.")
    .argument("<thread>", "the id of the thread")
    .option("--revoke <id>", "take back the grant of this id")
    .option("--json", "print them as JSON")
    .action(async (thread: string, options: { revoke?: string; json?: boolean }, self: Command) => {
      const { threadGrants } = await import("./run-grants.ts");
      process.exitCode = await threadGrants(thread, { ...options, config: self.optsWithGlobals().config });
    });
  rules
    .command("check")
    .description("Show what would happen to a command, and why.")
    .argument("<command>", "the text of the command, in quotes; or an address, such as https://example.org")
    .option("-C, --cd <dir>", "the folder that it would run in, instead of the current one")
    .option("--outside", "as if the model asked to run it outside of the sandbox")
    .option("--json", "print the answer as JSON")
    .addHelpText("after", NOTES)
    .action(async (text: string, options: CheckOptions, self: Command) => {
      const { checkRules } = await import("./run-rules.ts");
      process.exitCode = await checkRules(text, { ...options, config: self.optsWithGlobals().config });
    });
}

export interface CheckOptions {
  readonly cd?: string;
  readonly outside?: boolean;
  readonly json?: boolean;
}

const TRUST = `
A project's rules are in .bobbin/rules/*.rules and .codex/rules/*.rules. What they forbid or ask about always counts;
what they allow counts once they are trusted, and no longer when a file changes. config.toml remembers it in [projects].
In a trusted project, threads may write to their folder unless sandbox_mode or default_permissions is configured.
`;

const NOTES = `
Rules are in the home's rules/*.rules and in those of trusted projects, in the format of the Codex CLI.
Exit code: 0 when the command runs without a question, 1 when it is asked about or refused.

Examples:
  bobbin rules check 'git push --force'
  bobbin rules check --outside 'npm install'
  bobbin rules check https://example.org
  bobbin rules check -c approval_policy=untrusted 'ls && cat x'
`;
