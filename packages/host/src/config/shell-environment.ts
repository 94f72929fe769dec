import { type ShellEnvironmentPolicy, USUAL_SHELL_ENVIRONMENT } from "../process/command-environment.ts";
import { ConfigError } from "./config-error.ts";
import { flag, list, oneOf, subtable, type Table, texts } from "./table.ts";

const NAME = "shell_environment_policy";
const AT = `${NAME}.`;

/**
 * `[shell_environment_policy]`: the keys of the Codex CLI, and `allow`. Unlike there, variables with the name of a secret
 * are removed unless `ignore_default_excludes` is true.
 */
export function readShellEnvironment(table: Table): ShellEnvironmentPolicy {
  const given = subtable(table, NAME);
  if (given === undefined) return USUAL_SHELL_ENVIRONMENT;
  const usual = USUAL_SHELL_ENVIRONMENT;
  return {
    inherit: oneOf(given, "inherit", ["all", "core", "none"], AT) ?? usual.inherit,
    removesSecrets: !(flag(given, "ignore_default_excludes", AT) ?? !usual.removesSecrets),
    allow: list(given, "allow", AT) ?? usual.allow,
    ...readFilters(given),
    set: readSet(given),
  };
}

/** Patterns come as two lists, or as one table from a pattern to what is done with it. */
function readFilters(given: Table): Pick<ShellEnvironmentPolicy, "exclude" | "includeOnly"> {
  const lists = { exclude: list(given, "exclude", AT), includeOnly: list(given, "include_only", AT) };
  const filters = subtable(given, "filters", AT);
  if (filters === undefined) return { exclude: lists.exclude ?? [], includeOnly: lists.includeOnly ?? [] };
  if (lists.exclude !== undefined || lists.includeOnly !== undefined)
    throw new ConfigError(`${AT}filters cannot be combined with exclude or include_only`);
  const patterns = Object.keys(filters);
  const twice = patterns.find((pattern, at) =>
    patterns.slice(0, at).some((other) => other.toLowerCase() === pattern.toLowerCase()),
  );
  if (twice !== undefined)
    throw new ConfigError(`${AT}filters: "${twice}" is there twice; upper and lower case count as the same`);
  const chosen = (action: "include" | "exclude"): readonly string[] =>
    patterns.filter((pattern) => oneOf(filters, pattern, ["include", "exclude"], `${AT}filters.`) === action);
  return { exclude: chosen("exclude"), includeOnly: chosen("include") };
}

function readSet(given: Table): Readonly<Record<string, string>> {
  const set = texts(given, "set", AT);
  for (const [name, value] of Object.entries(set)) {
    if (name === "" || /[=\0]/.test(name))
      throw new ConfigError(`${AT}set: ${JSON.stringify(name)} cannot be the name of a variable`);
    if (value.includes("\0")) throw new ConfigError(`${AT}set.${name}: a value cannot contain NUL`);
  }
  return set;
}
