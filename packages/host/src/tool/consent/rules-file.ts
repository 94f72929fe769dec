import { isAbsolute } from "node:path";
import {
  type NetworkProtocol,
  type NetworkRule,
  NO_RULES,
  type PrefixRule,
  type RuleDecision,
  type Rules,
  restrictionsOf,
  ruleFor,
} from "./command-and-network-rules.ts";
import { type Literal, type LiteralCall, RulesError, readCalls } from "./starlark-parser.ts";

/**
 * A parsed rules file. If it has a problem, its allow rules are ignored, and its restrictions apply as far as they
 * could be parsed.
 */
export interface RulesFile {
  readonly rules: Rules;
  readonly bad: BadRulesFile | null;
}

export interface BadRulesFile {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const MAX_TEXT = 1024 * 1024;

/**
 * Parses a rules file in the Codex CLI's format: calls of `prefix_rule`, `network_rule` and `host_executable`. If
 * `text` is null, `problem` says why the file could not be read.
 */
export function readRulesFile(file: string, text: string | null, problem = "it cannot be read"): RulesFile {
  const calls: LiteralCall[] = [];
  const found: FoundRules = { prefixes: [], network: [], executables: new Map() };
  try {
    if (text === null) throw new RulesError(1, problem);
    if (text.length > MAX_TEXT) throw new RulesError(1, "the file is larger than 1 MiB");
    readCalls(text, calls);
    addRules(file, calls, found);
    return { rules: found, bad: null };
  } catch (cause) {
    if (!(cause instanceof RulesError)) throw cause;
    if (found.prefixes.length + found.network.length === 0) addRestrictions(file, calls, found);
    return { rules: restrictionsOf(found), bad: { file, line: cause.line, message: cause.message } };
  }
}

/** The line that allows a command prefix, as the Codex CLI writes it. */
export function allowLine(prefix: readonly string[]): string {
  return `prefix_rule(pattern=[${prefix.map((word) => JSON.stringify(word)).join(", ")}], decision="allow")`;
}

/** The line that allows or denies a network host, as the Codex CLI writes it. */
export function networkLine(host: string, protocol: NetworkProtocol, decision: "allow" | "deny"): string {
  return `network_rule(host=${JSON.stringify(host)}, protocol="${protocol}", decision="${decision}")`;
}

interface FoundRules {
  readonly prefixes: PrefixRule[];
  readonly network: NetworkRule[];
  readonly executables: Map<string, readonly string[]>;
}

/** Adds the rules before the first mistake in the file. */
function addRestrictions(file: string, calls: readonly LiteralCall[], found: FoundRules): void {
  try {
    addRules(file, calls, found);
  } catch (cause) {
    if (!(cause instanceof RulesError)) throw cause;
  }
}

function addRules(
  file: string,
  calls: readonly LiteralCall[],
  { prefixes, network, executables }: FoundRules,
): void {
  const checks: (() => void)[] = [];
  for (const call of calls) {
    const origin = { file, line: call.line };
    switch (call.name) {
      case "prefix_rule": {
        const argument = args(call, ["pattern", "decision", "match", "not_match", "justification"]);
        const rule: PrefixRule = {
          pattern: patternOf(call, argument("pattern")),
          decision: decisionOf(call, argument("decision") ?? "allow"),
          justification: justificationOf(call, argument("justification")),
          origin,
        };
        prefixes.push(rule);
        checks.push(() => checkExamples(call, rule, executables, argument));
        break;
      }
      case "network_rule": {
        const argument = args(call, ["host", "protocol", "decision", "justification"]);
        const decision = argument("decision");
        network.push({
          host: hostOf(call, argument("host")),
          protocol: protocolOf(call, argument("protocol")),
          decision: decision === "deny" ? "forbidden" : decisionOf(call, decision),
          justification: justificationOf(call, argument("justification")),
          origin,
        });
        break;
      }
      case "host_executable": {
        const argument = args(call, ["name", "paths"]);
        const name = stringOf(call, "name", argument("name"));
        if (name === "" || name.includes("/"))
          fail(call, "name has to be the name of a program without a folder");
        const paths = strings(call, "paths", argument("paths"));
        for (const path of paths)
          if (!isAbsolute(path) || !path.endsWith(`/${name}`))
            fail(call, `paths: ${path} is no absolute path of ${name}`);
        executables.set(name, paths);
        break;
      }
      default:
        fail(
          call,
          `there is no function ${call.name}; known are prefix_rule, network_rule and host_executable`,
        );
    }
  }
  for (const check of checks) check();
}

type ArgumentOf = (name: string) => Literal | undefined;

function args(call: LiteralCall, names: readonly string[]): ArgumentOf {
  const extra = [...call.named.keys()].find((name) => !names.includes(name));
  if (extra !== undefined) fail(call, `${call.name} has no argument ${extra}`);
  if (call.positional.length > names.length) fail(call, `${call.name} has at most ${names.length} arguments`);
  const twice = names.slice(0, call.positional.length).find((name) => call.named.has(name));
  if (twice !== undefined) fail(call, `${twice} is given twice`);
  // `None` counts as a missing argument.
  return (name) => call.named.get(name) ?? call.positional[names.indexOf(name)] ?? undefined;
}

function patternOf(call: LiteralCall, value: Literal | undefined): PrefixRule["pattern"] {
  if (!Array.isArray(value) || value.length === 0) return fail(call, "pattern has to be a list of words");
  return value.map((entry: Literal) => {
    if (typeof entry === "string") return [entry];
    const choices = strings(call, "pattern", entry);
    return choices.length === 0 ? fail(call, "pattern: a list of choices is empty") : choices;
  });
}

function decisionOf(call: LiteralCall, value: Literal | undefined): RuleDecision {
  if (value === "allow" || value === "prompt" || value === "forbidden") return value;
  return fail(
    call,
    `decision has to be "allow", "prompt" or "forbidden", not ${JSON.stringify(value ?? null)}`,
  );
}

function justificationOf(call: LiteralCall, value: Literal | undefined): string | null {
  if (value === undefined) return null;
  const text = stringOf(call, "justification", value);
  return text.trim() === "" ? fail(call, "justification is empty") : text;
}

function protocolOf(call: LiteralCall, value: Literal | undefined): NetworkProtocol {
  switch (value) {
    case "http":
    case "https":
    case "socks5_tcp":
    case "socks5_udp":
      return value;
    case "https_connect":
    case "http-connect":
      return "https";
    default:
      return fail(call, "protocol has to be http, https, socks5_tcp or socks5_udp");
  }
}

function hostOf(call: LiteralCall, value: Literal | undefined): string {
  const text = stringOf(call, "host", value).trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([^:]+):\d+$/, "$1");
  const host = bare.replace(/\.+$/, "").toLowerCase();
  if (host === "" || /[\s*/?#[\]]/.test(host))
    return fail(call, `host has to name one host, not ${JSON.stringify(text)}`);
  return host;
}

/**
 * `match` and `not_match` are examples that test the rule. If one of them fails, the rule does not do what its author
 * intended.
 */
function checkExamples(
  call: LiteralCall,
  rule: PrefixRule,
  executables: Rules["executables"],
  argument: ArgumentOf,
): void {
  const alone: Rules = { ...NO_RULES, prefixes: [{ ...rule, decision: "prompt" }], executables };
  const fits = (example: readonly string[]): boolean => ruleFor(alone, example) !== null;
  const missed = examples(call, "match", argument).find((one) => !fits(one));
  if (missed !== undefined)
    fail(call, `the rule does not match its example ${JSON.stringify(missed.join(" "))}`);
  const caught = examples(call, "not_match", argument).find(fits);
  if (caught !== undefined)
    fail(call, `the rule matches ${JSON.stringify(caught.join(" "))}, which it should not`);
}

function examples(call: LiteralCall, name: string, argument: ArgumentOf): readonly (readonly string[])[] {
  const value = argument(name);
  if (value === undefined) return [];
  if (!Array.isArray(value)) return fail(call, `${name} has to be a list`);
  return value.map((entry: Literal) => {
    const words = typeof entry === "string" ? wordsOf(entry) : strings(call, name, entry);
    return words === null || words.length === 0 ? fail(call, `${name} has an example without words`) : words;
  });
}

/** Splits a text into words as a shell does, without expansions; null if a quote is not closed. */
function wordsOf(text: string): readonly string[] | null {
  const words: string[] = [];
  const pieces = /\s+|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
  let word: string | null = null;
  for (let at = 0; at < text.length; at = pieces.lastIndex) {
    pieces.lastIndex = at;
    const piece = pieces.exec(text);
    if (piece === null) return null;
    const [, single, double, escaped, bare] = piece;
    const value = single ?? double?.replace(/\\([$`"\\\n])/g, "$1") ?? escaped ?? bare;
    if (value !== undefined) word = (word ?? "") + value;
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

function stringOf(call: LiteralCall, name: string, value: Literal | undefined): string {
  return typeof value === "string" ? value : fail(call, `${name} has to be a string`);
}

function strings(call: LiteralCall, name: string, value: Literal | undefined): readonly string[] {
  if (!Array.isArray(value)) return fail(call, `${name} has to be a list of strings`);
  return value.map((entry: Literal) => stringOf(call, name, entry));
}

function fail(call: LiteralCall, message: string): never {
  throw new RulesError(call.line, message);
}
