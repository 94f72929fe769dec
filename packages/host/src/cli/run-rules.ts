import { join, relative, resolve } from "node:path";
import type {
  BadRulesFile,
  CommandRule,
  NetworkHostRule,
  RuleDecision,
  RulesListResponse,
} from "@bobbin/protocol";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { trustDefaults } from "../config/trust-defaults.ts";
import { nodePlatform } from "../platform/node.ts";
import type { HostRules } from "../sandbox/network/hosts.ts";
import { type Target, targetOf } from "../sandbox/network/request-head.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { commandActions } from "../tool/consent/command-actions.ts";
import type { Consent } from "../tool/consent/consent.ts";
import { decideConsent } from "../tool/consent/decide.ts";
import { type ParsedCommand, parseCommand } from "../tool/consent/shell.ts";
import { trustIn } from "../tool/project-trust.ts";
import { RulesStore } from "../tool/rules-store.ts";
import type { CheckOptions } from "./rules.ts";
import { consentToHost } from "./serve-hosts.ts";
import { harmless, Output } from "./terminal.ts";

/** Shows all rules. Resolves with the exit code. */
export async function listRules(options: {
  readonly cd?: string;
  readonly json?: boolean;
  readonly config?: readonly string[];
}): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects } = await loadConfig(platform.files, home, options.config ?? []);
  const store = new RulesStore(home, { ...platform, projects: () => projects });
  const listed = await store.list(resolve(options.cd ?? "."));
  if (options.json) stdout.line(JSON.stringify(listed, null, 2));
  else stdout.write(ruleLines(listed, home, stdout));
  await stdout.flushed();
  return listed.badFiles.length === 0 ? 0 : 1;
}

export function ruleLines(
  { commands, hosts, badFiles, project }: RulesListResponse,
  home: string,
  stdout: Output,
): string {
  const line = (rule: Omit<CommandRule | NetworkHostRule, "revocable">, what: string): string => {
    const why = rule.justification === null ? "" : ` (${rule.justification})`;
    const near = relative(home, rule.file);
    const where = stdout.dim(`${near.startsWith("..") ? rule.file : near}:${rule.line}`);
    return `  ${colored(rule.decision, stdout)}  ${harmless(what + why)}  ${where}`;
  };
  const lines = [
    ...commands.map((rule) => line(rule, rule.pattern.map((choices) => choices.join("|")).join(" "))),
    ...hosts.map((rule) => line(rule, `${rule.protocol}://${rule.host}`)),
    ...badFiles.map((bad) => badLine(bad, stdout)),
    ...(project === null || project.trusted ? [] : [untrustedLine(project.root, stdout)]),
  ];
  return lines.length === 0 ? "\n  There are no rules.\n\n" : `\n${lines.join("\n")}\n\n`;
}

function colored(decision: RuleDecision, stdout: Output): string {
  const text = decision.padEnd("forbidden".length);
  switch (decision) {
    case "allow":
      return stdout.green(text);
    case "prompt":
      return stdout.yellow(text);
    case "forbidden":
      return stdout.red(text);
  }
}

function badLine({ file, line, message }: BadRulesFile, stdout: Output): string {
  return `  ${stdout.red(harmless(`${file}:${line}: ${message}`))}\n    → nothing that this file allows counts`;
}

function untrustedLine(root: string, stdout: Output): string {
  const says = `The rules of ${root} are not trusted as they are: what they allow does not count.`;
  return `  ${stdout.yellow(harmless(says))}\n    → bobbin rules trust ${harmless(root)}`;
}

/** Takes back what was allowed for good. Resolves with the exit code. */
export async function revokeRule(words: readonly string[]): Promise<number> {
  const home = homeDirectory();
  if (await new RulesStore(home, nodePlatform()).revoke(words)) return 0;
  const file = join(home, "rules", "default.rules");
  process.stderr.write(
    `bobbin: ${file} has no line that allows ${JSON.stringify(words)}. See bobbin rules list; other rules are edited in their files.\n`,
  );
  return 1;
}

/** Shows what would happen to a command. Resolves with the exit code. */
export async function checkRules(
  text: string,
  options: CheckOptions & { readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, options.config ?? []);
  const { projects } = config;
  const workdir = resolve(options.cd ?? ".");
  const implied = trustDefaults(await trustIn(platform.files, workdir, projects), config);
  const policy = implied.approvalPolicy ?? config.approvalPolicy;
  const sandbox = implied.sandbox ?? config.sandbox.sandbox;
  const store = new RulesStore(home, { ...platform, projects: () => projects });
  const { rules, bad, project } = await store.load(workdir);
  const target = hostOf(text);
  if (target !== null) {
    const profile = config.permissionProfiles.get(config.sandbox.permissionProfile ?? "")?.network;
    const hosts = typeof profile === "object" ? profile : (config.networkProxy ?? NO_HOSTS);
    const consent = consentToHost(target, hosts, rules, policy);
    if (options.json) stdout.line(JSON.stringify({ consent, ...target, policy, badFiles: bad }, null, 2));
    else stdout.write(`\n  ${hostHeadline(consent, stdout)}\n\n`);
    await stdout.flushed();
    return consent.kind === "sandboxed" ? 0 : 1;
  }
  const problem = await createSandbox({ platform, home }).problem();
  const command = parseCommand(text);
  const escalate = options.outside ?? false;
  const consent = decideConsent({
    what: { kind: "command", command, escalate, justification: null, prefixRule: null, workdir },
    policy,
    sandbox,
    roots: [workdir],
    sandboxProblem: problem?.reason ?? null,
    rules,
    grants: [],
  });
  if (options.json) {
    const { words, found, isDangerous, isPlainGit } = command;
    const actions = commandActions(command, workdir);
    const about = { isPlain: words !== null, isDangerous, isPlainGit, commands: words ?? found, actions };
    stdout.line(JSON.stringify({ consent, ...about, policy, sandbox, badFiles: bad }, null, 2));
  } else {
    stdout.write(forPeople(command, consent, stdout));
    stdout.line(
      out(stdout, `policy ${typeof policy === "string" ? policy : "granular"}, sandbox ${sandbox.type}`),
    );
    for (const one of bad) stdout.line(badLine(one, stdout));
    if (project?.isTrusted === false) stdout.line(untrustedLine(project.root, stdout));
    stdout.line("");
  }
  await stdout.flushed();
  return consent.kind === "sandboxed" || consent.kind === "unsandboxed" ? 0 : 1;
}

const NO_HOSTS: HostRules = { domains: [], socks: true };

/** A text that is an address and not a command. */
function hostOf(text: string): Target | null {
  if (!/^https?:\/\/[^\s/]+\/?$/.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port } = new URL(text);
  const isPlain = protocol === "http:";
  return targetOf(hostname, Number(port) || (isPlain ? 80 : 443), isPlain ? "http" : "https");
}

function hostHeadline(consent: Consent, stdout: Output): string {
  switch (consent.kind) {
    case "ask":
      return `${stdout.yellow("asks")}, where commands have the network by host`;
    case "refuse":
      return `${stdout.red("is refused")}: ${harmless(consent.reason)}`;
    default:
      return `${stdout.green("is allowed")}, where commands have the network by host`;
  }
}

function out(stdout: Output, text: string): string {
  return stdout.dim(`  ${text}`);
}

function forPeople(command: ParsedCommand, consent: Consent, stdout: Output): string {
  const { words, problem } = command;
  const lines = ["", `  ${headline(consent, stdout)}`];
  if (words !== null) lines.push(...words.map((one) => out(stdout, `command: ${harmless(one.join(" "))}`)));
  else lines.push(out(stdout, problem === null ? `not plain: ${NOT_PLAIN}` : `cannot be read: ${problem}`));
  if (consent.kind === "ask" && consent.amendment !== null)
    lines.push(out(stdout, `can be allowed for good: ${harmless(JSON.stringify(consent.amendment))}`));
  return `${lines.join("\n")}\n`;
}

const NOT_PLAIN =
  "the shell would expand, redirect or assign something, so rules can forbid it, and cannot allow it";

function headline(consent: Consent, stdout: Output): string {
  switch (consent.kind) {
    case "sandboxed":
      return `${stdout.green("runs")} in the sandbox`;
    case "unsandboxed":
      return `${stdout.green("runs")} outside of the sandbox, because ${harmless(consent.because)}`;
    case "ask": {
      const reason = consent.reason === null ? "" : `: ${harmless(consent.reason)}`;
      const where = consent.runs === "sandboxed" ? "in the sandbox" : "outside of the sandbox";
      return `${stdout.yellow("asks")}, and then runs ${where}${reason}`;
    }
    case "refuse":
      return `${stdout.red("is refused")}: ${harmless(consent.reason)}`;
  }
}
