import { relative } from "node:path";
import type { CommandRule, NetworkHostRule } from "@bobbin/protocol";
import type { Platform } from "../platform/platform.ts";
import type { Projects, TrustLevel } from "../tool/project-rules.ts";
import { RulesStore } from "../tool/rules-store.ts";
import type { Approval } from "./exec-approval.ts";
import { rememberTrust } from "./remember-trust.ts";

/** More rules are counted. */
const MAX_RULES = 20;

interface Person {
  approve<T>(approval: Approval<T>, signal: AbortSignal): Promise<T | undefined>;
}

export interface TrustPorts {
  readonly platform: Platform;
  readonly home: string;
  readonly projects: Projects;
}

/**
 * Asks whether a project is trusted whose rules would allow something, unless it was asked before and nothing has changed
 * since. Config.toml remembers the answer. Resolves with whether config.toml has changed.
 */
export async function askTrust(
  { platform, home, projects }: TrustPorts,
  cwd: string,
  person: Person,
  signal: AbortSignal,
): Promise<boolean> {
  const { project } = await new RulesStore(home, { ...platform, projects: () => projects }).load(cwd);
  if (project === null || !project.isWithheld || project.level === "untrusted") return false;
  const { root, digest, level } = project;
  // As they would count.
  const trusted = new Map(projects).set(root, { level: "trusted", rules: digest });
  const listed = await new RulesStore(home, { ...platform, projects: () => trusted }).list(cwd);
  const allowed = [...listed.commands, ...listed.hosts].filter(
    ({ file, decision }) => decision === "allow" && file.startsWith(root),
  );
  const answer = await person.approve(trustQuestion(root, level, allowed), signal);
  if (answer === undefined || answer === "later") return false;
  await rememberTrust(platform.files, home, root, answer, answer === "trusted" ? digest : null);
  return true;
}

type Rule = CommandRule | NetworkHostRule;

/** `level`: what was said before, of rules that have changed since. */
export function trustQuestion(
  root: string,
  level: TrustLevel | null,
  allowed: readonly Rule[],
): Approval<TrustLevel | "later"> {
  const more = allowed.length - MAX_RULES;
  const changed = level === "trusted";
  return {
    question: changed
      ? `Trust the rules of ${root}? They are not those that you trusted.`
      : `Trust ${root}? Its rules let commands run outside of the sandbox without asking.`,
    details: [
      ...allowed.slice(0, MAX_RULES).map((rule) => ruleLine(root, rule)),
      ...(more > 0 ? [`… ${more} more rules`] : []),
    ],
    choices: [
      { key: "y", says: "yes, as it is now: a change is asked about again", answer: "trusted" },
      changed
        ? { key: "n", says: "no, go on without what they allow", answer: "later" }
        : {
            key: "n",
            says: "no: ask about every command here, unless configured otherwise",
            answer: "untrusted",
          },
    ],
  };
}

function ruleLine(root: string, rule: Rule): string {
  const what =
    "pattern" in rule
      ? rule.pattern.map((choices) => choices.join("|")).join(" ")
      : `${rule.protocol}://${rule.host}`;
  return `allow ${what}  (${relative(root, rule.file)}:${rule.line})`;
}
