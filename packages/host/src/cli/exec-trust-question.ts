import { relative } from "node:path";
import type { CommandRule, NetworkHostRule } from "@bobbin/protocol";
import type { Layer } from "../config/layer.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import { trustedFiles } from "../config/project-layers.ts";
import type { Platform } from "../platform/platform.ts";
import type { Projects, TrustLevel } from "../tool/consent/project-rules.ts";
import type { Approval } from "./exec-approval-choices.ts";
import { openRulesStore } from "./open-rules-store.ts";
import { storeProjectTrust } from "./store-project-trust.ts";

/** Limit on the rules that are shown. The others are only counted. */
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
 * Asks the user whether to trust a project that has configuration, or rules that allow something. Does not ask about
 * a distrusted project, or if the project's files are trusted in their current version. Stores the answer in
 * config.toml. Resolves with whether config.toml has changed.
 */
export async function askTrust(
  { platform, home, projects }: TrustPorts,
  cwd: string,
  person: Person,
  signal: AbortSignal,
): Promise<boolean> {
  const { project } = await openRulesStore(home, platform, projects).load(cwd);
  if (project === null || project.level === "untrusted") return false;
  const { root, digest, level } = project;
  const layers = await new LayeredConfig(platform.files, home, []).read(cwd);
  const withheld = layers.filter(({ disabledReason }) => disabledReason !== null);
  if (!project.isWithheld && withheld.length === 0) return false;
  // The rules are listed as they apply once the project is trusted.
  const trusted = new Map(projects).set(root, { level: "trusted", rules: digest });
  const listed = await openRulesStore(home, platform, trusted).list(cwd);
  const allowed = [...listed.commands, ...listed.hosts].filter(
    ({ file, decision }) => decision === "allow" && file.startsWith(root),
  );
  const answer = await person.approve(trustQuestion(root, level, allowed, withheld), signal);
  if (answer === undefined || answer === "later") return false;
  const trusts = answer === "trusted";
  const files = trusts ? trustedFiles(root, layers) : {};
  await storeProjectTrust(platform, home, root, answer, { rules: trusts ? digest : null, files });
  return true;
}

type Rule = CommandRule | NetworkHostRule;

/** `level`: the stored answer about an earlier version of the files. `withheld`: the ignored config files. */
export function trustQuestion(
  root: string,
  level: TrustLevel | null,
  allowed: readonly Rule[],
  withheld: readonly Pick<Layer, "file" | "config">[] = [],
): Approval<TrustLevel | "later"> {
  const more = allowed.length - MAX_RULES;
  const changed = level === "trusted";
  const what = allowed.length === 0 ? "configuration" : "rules";
  const does =
    allowed.length === 0 ? "changes settings" : "let commands run outside of the sandbox without asking";
  return {
    question: changed
      ? `Trust the ${what} of ${root}? ${what === "rules" ? "They are not those" : "It is not the one"} that you trusted.`
      : `Trust ${root}? Its ${what} ${does}.`,
    details: [
      ...withheld.map(
        ({ file, config }) => `${relative(root, file!)} sets ${Object.keys(config).join(", ")}`,
      ),
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
