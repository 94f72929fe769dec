import type { NetworkApprovalProtocol } from "@bobbin/protocol";

/**
 * The rules of one or several rules files. The order does not matter: of all matching rules, the strictest one
 * decides.
 */
export interface Rules {
  readonly prefixes: readonly PrefixRule[];
  readonly network: readonly NetworkRule[];
  /** For each program name, the files that count as that program. */
  readonly executables: ReadonlyMap<string, readonly string[]>;
}

export type RuleDecision = "allow" | "prompt" | "forbidden";

export interface RuleOrigin {
  readonly file: string;
  readonly line: number;
}

/** A rule for commands that begin with certain words. */
export interface PrefixRule {
  /** The alternatives for each of the first words. */
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  readonly justification: string | null;
  readonly origin: RuleOrigin;
}

export type NetworkProtocol = "http" | "https" | "socks5_tcp" | "socks5_udp";

/** The protocol names of rules files, by the protocol names of clients. */
export const RULE_PROTOCOLS: Readonly<Record<NetworkApprovalProtocol, NetworkProtocol>> = {
  http: "http",
  https: "https",
  socks5Tcp: "socks5_tcp",
  socks5Udp: "socks5_udp",
};

export interface NetworkRule {
  readonly host: string;
  readonly protocol: NetworkProtocol;
  readonly decision: RuleDecision;
  readonly justification: string | null;
  readonly origin: RuleOrigin;
}

export const NO_RULES: Rules = { prefixes: [], network: [], executables: new Map() };

const STRICTNESS: Readonly<Record<RuleDecision, number>> = { allow: 0, prompt: 1, forbidden: 2 };

/** Combines the rules of several files. */
export function joinRules(all: readonly Rules[]): Rules {
  const executables = new Map<string, readonly string[]>();
  // `host_executable` restricts a program to certain files. If several rules files restrict the same program, only
  // the files in all of the lists count.
  for (const rules of all)
    for (const [name, paths] of rules.executables)
      executables.set(name, executables.get(name)?.filter((path) => paths.includes(path)) ?? paths);
  return {
    prefixes: all.flatMap(({ prefixes }) => prefixes),
    network: all.flatMap(({ network }) => network),
    executables,
  };
}

/**
 * The rules that forbid or ask. `executables` are left out, because they could make allow rules of other files match.
 */
export function restrictionsOf({ prefixes, network }: Rules): Rules {
  const restricts = ({ decision }: { readonly decision: RuleDecision }): boolean => decision !== "allow";
  return { prefixes: prefixes.filter(restricts), network: network.filter(restricts), executables: new Map() };
}

/** The strictest rule that matches a command. Of equally strict rules, the one with the most words. */
export function ruleFor(rules: Rules, words: readonly string[]): PrefixRule | null {
  return strictest(
    rules.prefixes.filter((rule) => matches(rules, rule, words)),
    ({ pattern }) => pattern.length,
  );
}

/**
 * The strictest rule for a host and protocol. If there is none, what restricts the host for another protocol counts:
 * a host that is denied for https must not be reached by http.
 */
export function networkRuleFor(
  { network }: Rules,
  host: string,
  protocol: NetworkProtocol,
): NetworkRule | null {
  const name = host.replace(/\.$/, "").toLowerCase();
  const rules = network.filter((rule) => rule.host === name);
  const own = rules.filter((rule) => rule.protocol === protocol);
  return strictest(own.length > 0 ? own : rules.filter(({ decision }) => decision !== "allow"), () => 1);
}

/** Whether a rule allows exactly this network host. */
export function isHostAllowed({ network }: Rules, host: string): boolean {
  return network.some((rule) => rule.decision === "allow" && rule.host === host);
}

function strictest<T extends { readonly decision: RuleDecision }>(
  found: readonly T[],
  weight: (rule: T) => number,
): T | null {
  return found.reduce<T | null>((best, rule) => {
    if (best === null) return rule;
    const more = STRICTNESS[rule.decision] - STRICTNESS[best.decision] || weight(rule) - weight(best);
    return more > 0 ? rule : best;
  }, null);
}

function matches({ executables }: Rules, rule: PrefixRule, words: readonly string[]): boolean {
  const [program, ...rest] = words;
  const [first, ...others] = rule.pattern;
  if (program === undefined || first === undefined) return false;
  if (others.some((choices, at) => rest[at] === undefined || !choices.includes(rest[at]))) return false;
  if (first.includes(program)) return true;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === program || !first.includes(name)) return false;
  // Any file may have a program's name. A restriction applies to all files with the name; an allow rule only to those
  // that `host_executable` lists.
  return rule.decision !== "allow" || (executables.get(name)?.includes(program) ?? false);
}
