import type { PrefixRule } from "../tool/consent/command-and-network-rules.ts";
import { ConfigError } from "./bad-config-error.ts";
import { isTable } from "./layer.ts";
import { list, oneOf, subtable, type Table, text } from "./table-reader.ts";

const RULES = "rules.prefix_rules";

/**
 * Reads `[rules]` of requirements.toml: rules for commands that begin with certain words. They can demand approval or
 * forbid, and allow nothing.
 */
export function readRequiredRules(table: Table): readonly PrefixRule[] {
  const rules = subtable(table, "rules");
  if (rules === undefined) return [];
  // Unknown keys are errors: ignoring one could allow what its author meant to forbid.
  const wrong = Object.keys(rules).find((key) => key !== "prefix_rules");
  if (wrong !== undefined) throw new ConfigError(`rules.${wrong} is unknown`);
  return tables(rules["prefix_rules"], RULES).map((rule, nth) => readRule(rule, `${RULES}[${nth}].`));
}

function readRule(rule: Table, at: string): PrefixRule {
  const decision = oneOf(rule, "decision", ["prompt", "forbidden"], at);
  if (decision === undefined) throw new ConfigError(`${at}decision is required`);
  const words = tables(rule["pattern"], `${at}pattern`);
  return {
    pattern: words.map((word, nth) => readWord(word, `${at}pattern[${nth}].`)),
    decision,
    justification: text(rule, "justification", at) ?? null,
    origin: { file: "requirements.toml", line: 0 },
  };
}

/** The alternatives for one word: `token`, or the list `any_of`. */
function readWord(word: Table, at: string): readonly string[] {
  const token = text(word, "token", at);
  const choices = token === undefined ? list(word, "any_of", at) : [token];
  if (choices === undefined || choices.length === 0 || (token !== undefined && word["any_of"] !== undefined))
    throw new ConfigError(`${at}token, or ${at}any_of, is required`);
  return choices;
}

function tables(value: unknown, at: string): readonly Table[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isTable))
    throw new ConfigError(`${at}: expected a list of tables`);
  return value;
}
