import { isAbsolute, relative, resolve } from "node:path";
import type {
  BadRulesFile,
  CommandRule,
  NetworkHostRule,
  RuleDecision,
  RulesListResponse,
} from "@bobbin/protocol";
import { homeDirectory } from "../config/home-folder.ts";
import { loadConfig } from "../config/load-config.ts";
import { configInFolder } from "../config/trust-defaults.ts";
import { nodePlatform } from "../platform/node.ts";
import type { HostRules } from "../sandbox/network/host-rules.ts";
import { type Target, targetOf } from "../sandbox/network/proxy-request.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { commandActions } from "../tool/consent/command-actions.ts";
import type { Consent } from "../tool/consent/consent.ts";
import { decideConsent } from "../tool/consent/decide-consent.ts";
import { type ParsedCommand, parseCommand } from "../tool/consent/parse-command.ts";
import { trustIn } from "../tool/consent/project-trust-lookup.ts";
import { openRulesStore } from "./open-rules-store.ts";
import type { CheckOptions } from "./rules-command.ts";
import { consentToHost } from "./sandbox-network.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Shows all rules. Resolves with the exit code. */
export async function listRules(options: {
  readonly cd?: string;
  readonly json?: boolean;
  readonly config?: readonly string[];
}): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { projects, requirements } = await loadConfig(platform.files, home, options.config ?? []);
  const store = openRulesStore(home, platform, projects, requirements.rules);
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
    const file = near.startsWith("..") || !isAbsolute(rule.file) ? rule.file : near;
    const where = stdout.dim(rule.line === 0 ? file : `${file}:${rule.line}`);
    return `  ${colored(rule.decision, stdout)}  ${escapeControls(what + why)}  ${where}`;
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
  return `  ${stdout.red(escapeControls(`${file}:${line}: ${message}`))}\n    → nothing that this file allows counts`;
}

function untrustedLine(root: string, stdout: Output): string {
  const says = `The rules of ${root} are not trusted as they are: what they allow does not count.`;
  return `  ${stdout.yellow(escapeControls(says))}\n    → bobbin rules trust ${escapeControls(root)}`;
}

/** Removes a permanent approval from default.rules. Resolves with the exit code. */
export async function revokeRule(words: readonly string[]): Promise<number> {
  const home = homeDirectory();
  const rules = openRulesStore(home, nodePlatform());
  if (await rules.revoke(words)) return 0;
  process.stderr.write(
    `bobbin: ${rules.ownFile} has no line that allows ${JSON.stringify(words)}. See bobbin rules list; other rules are edited in their files.\n`,
  );
  return 1;
}

/** Shows whether a command would run, need approval or be refused. Resolves with the exit code. */
export async function checkRules(
  text: string,
  options: CheckOptions & { readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const loaded = await loadConfig(platform.files, home, options.config ?? []);
  const { projects } = loaded;
  const workdir = resolve(options.cd ?? ".");
  const config = configInFolder(await trustIn(platform.files, workdir, projects), loaded);
  const { approvalPolicy: policy } = config;
  const { sandbox, permissionProfile } = config.sandbox;
  const store = openRulesStore(home, platform, projects, config.requirements.rules);
  const { rules, bad, project } = await store.load(workdir);
  const rulesProblem = project?.problem ?? null;
  const target = hostOf(text);
  if (target !== null) {
    const profile = config.permissionProfiles.get(permissionProfile ?? "")?.network;
    const hosts = typeof profile === "object" ? profile : (config.networkProxy ?? NO_HOSTS);
    const consent = consentToHost(target, hosts, rules, policy, rulesProblem);
    if (options.json) stdout.line(JSON.stringify({ consent, ...target, policy, badFiles: bad }, null, 2));
    else stdout.write(`\n  ${hostHeadline(consent, stdout)}\n\n`);
    await stdout.flushed();
    return consent.kind === "sandboxed" ? 0 : 1;
  }
  const problem = await createSandbox({ platform, home }).problem();
  const command = parseCommand(text, "bash");
  const escalate = options.outside ?? false;
  const consent = decideConsent({
    what: { kind: "command", command, escalate, justification: null, prefixRule: null, workdir },
    policy,
    sandbox,
    roots: [workdir],
    sandboxProblem: problem?.reason ?? null,
    rules,
    rulesProblem,
    grants: [],
  });
  if (options.json) {
    const { words, found, isDangerous, isPlainGit } = command;
    const actions = commandActions(command, workdir);
    const about = { isPlain: words !== null, isDangerous, isPlainGit, commands: words ?? found, actions };
    const settings = { policy, sandbox, permissionProfile };
    stdout.line(JSON.stringify({ consent, ...about, ...settings, badFiles: bad }, null, 2));
  } else {
    stdout.write(forPeople(command, consent, stdout));
    const profile = permissionProfile === null ? "" : `, profile ${escapeControls(permissionProfile)}`;
    const name = typeof policy === "string" ? policy : "granular";
    stdout.line(out(stdout, `policy ${name}, sandbox ${sandbox.type}${profile}`));
    for (const one of bad) stdout.line(badLine(one, stdout));
    if (project?.isTrusted === false) stdout.line(untrustedLine(project.root, stdout));
    stdout.line("");
  }
  await stdout.flushed();
  return consent.kind === "sandboxed" || consent.kind === "unsandboxed" ? 0 : 1;
}

const NO_HOSTS: HostRules = { domains: [], socks: true };

/** Parses a text that is a URL; null if it is a command. */
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
      return `${stdout.red("is refused")}: ${escapeControls(consent.reason)}`;
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
  if (words !== null)
    lines.push(...words.map((one) => out(stdout, `command: ${escapeControls(one.join(" "))}`)));
  else lines.push(out(stdout, problem === null ? `not plain: ${NOT_PLAIN}` : `cannot be read: ${problem}`));
  if (consent.kind === "ask" && consent.amendment !== null)
    lines.push(out(stdout, `can be allowed for good: ${escapeControls(JSON.stringify(consent.amendment))}`));
  return `${lines.join("\n")}\n`;
}

const NOT_PLAIN =
  "the shell would expand, redirect or assign something, so rules can forbid it, and cannot allow it";

function headline(consent: Consent, stdout: Output): string {
  switch (consent.kind) {
    case "sandboxed":
      return `${stdout.green("runs")} in the sandbox`;
    case "unsandboxed":
      return `${stdout.green("runs")} outside of the sandbox, because ${escapeControls(consent.because)}`;
    case "ask": {
      const reason = consent.reason === null ? "" : `: ${escapeControls(consent.reason)}`;
      const where = consent.runs === "sandboxed" ? "in the sandbox" : "outside of the sandbox";
      return `${stdout.yellow("asks")}, and then runs ${where}${reason}`;
    }
    case "refuse":
      return `${stdout.red("is refused")}: ${escapeControls(consent.reason)}`;
  }
}
