import type { PartialEnvironment } from "./user-program-environment.ts";

/** Which environment variables of the host a model's commands get: `[shell_environment_policy]` in config.toml. */
export interface ShellEnvironmentPolicy {
  /** The variables to start from: all, only those that every program needs, or none. */
  readonly inherit: "all" | "core" | "none";
  /** Whether variables with names that look like secrets are removed. */
  readonly removesSecrets: boolean;
  /** Name patterns that are passed on although they look like secrets. */
  readonly allow: readonly string[];
  /** Name patterns that are removed. */
  readonly exclude: readonly string[];
  /** If not empty, only names that match one of these patterns are passed on. */
  readonly includeOnly: readonly string[];
  /** Variables that are set for every command; they override all other fields. */
  readonly set: Readonly<Record<string, string>>;
}

/** The default policy. */
export const USUAL_SHELL_ENVIRONMENT: ShellEnvironmentPolicy = {
  inherit: "all",
  removesSecrets: true,
  allow: [],
  exclude: [],
  includeOnly: [],
  set: {},
};

/** The environment of a command, and the names of the variables that were removed from it. */
export interface CommandEnvironment {
  readonly env: Record<string, string>;
  /** Sorted names of variables that were removed because they look like secrets. */
  readonly removed: readonly string[];
}

const CORE = new Set([
  "PATH",
  "SHELL",
  "TMPDIR",
  "TEMP",
  "TMP",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "USER",
]);

const SECRET_WORDS = new Set(["KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "CREDENTIALS"]);

/**
 * Builds the environment of a model's command. `secrets`: variables that the host itself uses; a command gets one of
 * them only if the user sets it explicitly. `changes` are applied last; a name with `null` is removed.
 */
export function commandEnvironment(
  host: PartialEnvironment,
  secrets: ReadonlySet<string>,
  policy: ShellEnvironmentPolicy,
  changes: PartialEnvironment = {},
): CommandEnvironment {
  const env: Record<string, string> = {};
  const removed: string[] = [];
  const isSecret = isSecretTest(secrets, policy);
  const isWanted = isInheritedTest(policy);
  for (const [name, value] of Object.entries(host)) {
    if (value == null || !isWanted(name)) continue;
    if (isSecret(name)) removed.push(name);
    else env[name] = value;
  }
  for (const [name, value] of [...Object.entries(policy.set), ...Object.entries(changes)]) {
    if (value == null) delete env[name];
    else env[name] = value;
  }
  return { env, removed: removed.filter((name) => !Object.hasOwn(env, name)).sort() };
}

/** The line of config.toml that would let the removed variables through; undefined if none of them can be. */
export function allowLine(removed: readonly string[], secrets: ReadonlySet<string>): string | undefined {
  const names = removed.filter((name) => !secrets.has(name));
  return names.length === 0 ? undefined : `shell_environment_policy.allow = ${JSON.stringify(names)}`;
}

function isSecretTest(
  secrets: ReadonlySet<string>,
  policy: ShellEnvironmentPolicy,
): (name: string) => boolean {
  const isAllowed = anyPattern(policy.allow);
  return (name) =>
    secrets.has(name) ||
    (policy.removesSecrets &&
      name.split("_").some((word) => SECRET_WORDS.has(word.toUpperCase())) &&
      !isAllowed(name));
}

function isInheritedTest({
  inherit,
  exclude,
  includeOnly,
}: ShellEnvironmentPolicy): (name: string) => boolean {
  const isExcluded = anyPattern(exclude);
  const isIncluded = includeOnly.length === 0 ? () => true : anyPattern(includeOnly);
  return (name) =>
    inherit !== "none" &&
    (inherit === "all" || CORE.has(name.toUpperCase())) &&
    !isExcluded(name) &&
    isIncluded(name);
}

/** Matches patterns in which `*` stands for any characters and `?` for one, ignoring case. */
function anyPattern(patterns: readonly string[]): (name: string) => boolean {
  const all = patterns.map((pattern) => pattern.toUpperCase());
  return (name) => all.some((pattern) => matches(pattern, name.toUpperCase()));
}

/** Matches one pattern, in time at most proportional to the product of both lengths. */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let next = 0;
  /**
   * Where to continue if the text after the last star does not match: the position of the star, and how many
   * characters it has consumed.
   */
  let star: { readonly at: number; taken: number } | undefined;
  while (next < name.length) {
    if (pattern[at] === "*") star = { at: at++, taken: next };
    else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[next])) {
      at++;
      next++;
    } else if (star !== undefined) {
      at = star.at + 1;
      next = ++star.taken;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}
