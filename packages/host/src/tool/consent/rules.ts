import type { NetworkApprovalProtocol } from "@bobbin/protocol";

/** What rules files say, put together. Rules never depend on their order: the strictest that fits counts. */
export interface Rules {
  readonly prefixes: readonly PrefixRule[];
  readonly network: readonly NetworkRule[];
  /** By name: the files that count as the program of that name. */
  readonly executables: ReadonlyMap<string, readonly string[]>;
}

export type RuleDecision = "allow" | "prompt" | "forbidden";

export interface RuleOrigin {
  readonly file: string;
  readonly line: number;
}

/** For commands that begin with certain words. */
export interface PrefixRule {
  /** What each of the first words may be. */
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  readonly justification: string | null;
  readonly origin: RuleOrigin;
}

export type NetworkProtocol = "http" | "https" | "socks5_tcp" | "socks5_udp";

/** Rules files have other names for them than the protocol of clients. */
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

/** All rules of several files. */
export function joinRules(all: readonly Rules[]): Rules {
  const executables = new Map<string, readonly string[]>();
  // Whoever names the files of a program restricts it: only what all agree on counts.
  for (const rules of all)
    for (const [name, paths] of rules.executables)
      executables.set(name, executables.get(name)?.filter((path) => paths.includes(path)) ?? paths);
  return {
    prefixes: all.flatMap(({ prefixes }) => prefixes),
    network: all.flatMap(({ network }) => network),
    executables,
  };
}

/** What rules forbid or ask about. What counts as a program is left out, because rules elsewhere may allow that program. */
export function restrictionsOf({ prefixes, network }: Rules): Rules {
  const restricts = ({ decision }: { readonly decision: RuleDecision }): boolean => decision !== "allow";
  return { prefixes: prefixes.filter(restricts), network: network.filter(restricts), executables: new Map() };
}

/** The strictest rule for a command's words; of equally strict ones the one with the most words. */
export function ruleFor(rules: Rules, words: readonly string[]): PrefixRule | null {
  return strictest(
    rules.prefixes.filter((rule) => matches(rules, rule, words)),
    ({ pattern }) => pattern.length,
  );
}

export function networkRuleFor(
  { network }: Rules,
  host: string,
  protocol: NetworkProtocol,
): NetworkRule | null {
  const name = host.replace(/\.$/, "").toLowerCase();
  return strictest(
    network.filter((rule) => rule.host === name && rule.protocol === protocol),
    () => 1,
  );
}

/** Whether a rule allows a host by itself. */
export function hasRuleFor({ network }: Rules, host: string): boolean {
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
  // A file of that name may be anybody's: it is restricted like the program, and allowed only if it is listed.
  return rule.decision !== "allow" || (executables.get(name)?.includes(program) ?? false);
}
