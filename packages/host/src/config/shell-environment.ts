import { type ShellEnvironmentPolicy, USUAL_SHELL_ENVIRONMENT } from "../process/command-environment.ts";
import { ConfigError } from "./bad-config-error.ts";
import { flag, list, oneOf, subtable, type Table, textTable } from "./table-reader.ts";

const NAME = "shell_environment_policy";
const AT = `${NAME}.`;

/**
 * Reads `[shell_environment_policy]`: the keys of the Codex CLI, and `allow`. Unlike in the Codex CLI, variables
 * whose names look like secrets are removed, unless `ignore_default_excludes` is true.
 */
export function readShellEnvironment(table: Table): ShellEnvironmentPolicy {
  const section = subtable(table, NAME);
  if (section === undefined) return USUAL_SHELL_ENVIRONMENT;
  const usual = USUAL_SHELL_ENVIRONMENT;
  return {
    inherit: oneOf(section, "inherit", ["all", "core", "none"], AT) ?? usual.inherit,
    removesSecrets: !(flag(section, "ignore_default_excludes", AT) ?? !usual.removesSecrets),
    allow: list(section, "allow", AT) ?? usual.allow,
    ...readFilters(section),
    set: readSet(section),
  };
}

/** Reads the patterns of variable names: two lists (`exclude`, `include_only`), or one table `filters`. */
function readFilters(section: Table): Pick<ShellEnvironmentPolicy, "exclude" | "includeOnly"> {
  const lists = { exclude: list(section, "exclude", AT), includeOnly: list(section, "include_only", AT) };
  const filters = subtable(section, "filters", AT);
  if (filters === undefined) return { exclude: lists.exclude ?? [], includeOnly: lists.includeOnly ?? [] };
  if (lists.exclude !== undefined || lists.includeOnly !== undefined)
    throw new ConfigError(`${AT}filters cannot be combined with exclude or include_only`);
  const patterns = Object.keys(filters);
  const twice = patterns.find((pattern, at) =>
    patterns.slice(0, at).some((other) => other.toLowerCase() === pattern.toLowerCase()),
  );
  if (twice !== undefined)
    throw new ConfigError(`${AT}filters: "${twice}" occurs twice; upper and lower case count as the same`);
  const chosen = (action: "include" | "exclude"): readonly string[] =>
    patterns.filter((pattern) => oneOf(filters, pattern, ["include", "exclude"], `${AT}filters.`) === action);
  return { exclude: chosen("exclude"), includeOnly: chosen("include") };
}

function readSet(section: Table): Readonly<Record<string, string>> {
  const set = textTable(section, "set", AT);
  for (const [name, value] of Object.entries(set)) {
    if (name === "" || /[=\0]/.test(name))
      throw new ConfigError(`${AT}set: ${JSON.stringify(name)} cannot be the name of a variable`);
    if (value.includes("\0")) throw new ConfigError(`${AT}set.${name}: a value cannot contain NUL`);
  }
  return set;
}
