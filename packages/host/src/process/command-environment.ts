import type { PartialEnvironment } from "./environment.ts";

/** Which variables of the host's environment a model's commands get: `[shell_environment_policy]`. */
export interface ShellEnvironmentPolicy {
  /** What is passed on at first: everything, only what every program needs, or nothing. */
  readonly inherit: "all" | "core" | "none";
  /** Whether variables with the name of a secret are removed. */
  readonly removesSecrets: boolean;
  /** Patterns of names that are passed on although they look like secrets. */
  readonly allow: readonly string[];
  /** Patterns of names that are removed. */
  readonly exclude: readonly string[];
  /** If not empty, only names that fit one of these patterns are passed on. */
  readonly includeOnly: readonly string[];
  /** Set for every command, whatever else is said here. */
  readonly set: Readonly<Record<string, string>>;
}

export const USUAL_SHELL_ENVIRONMENT: ShellEnvironmentPolicy = {
  inherit: "all",
  removesSecrets: true,
  allow: [],
  exclude: [],
  includeOnly: [],
  set: {},
};

export interface CommandEnvironment {
  readonly env: Record<string, string>;
  /** Names that a command would have got, were they not secrets; sorted. */
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
 * The environment of a command that a model runs. `secrets` are the variables that the host itself uses: a command gets
 * them only if a person sets them. `changes` come last: a name with `null` is removed.
 */
export function commandEnvironment(
  host: PartialEnvironment,
  secrets: ReadonlySet<string>,
  policy: ShellEnvironmentPolicy,
  changes: PartialEnvironment = {},
): CommandEnvironment {
  const env: Record<string, string> = {};
  const removed: string[] = [];
  const isSecret = secretTest(secrets, policy);
  const isWanted = wantedTest(policy);
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

/** The line of `config.toml` that passes removed variables on; undefined if there is none that would. */
export function allowLine(removed: readonly string[], secrets: ReadonlySet<string>): string | undefined {
  const names = removed.filter((name) => !secrets.has(name));
  return names.length === 0 ? undefined : `shell_environment_policy.allow = ${JSON.stringify(names)}`;
}

function secretTest(secrets: ReadonlySet<string>, policy: ShellEnvironmentPolicy): (name: string) => boolean {
  const isAllowed = anyPattern(policy.allow);
  return (name) =>
    secrets.has(name) ||
    (policy.removesSecrets &&
      name.split("_").some((word) => SECRET_WORDS.has(word.toUpperCase())) &&
      !isAllowed(name));
}

function wantedTest({ inherit, exclude, includeOnly }: ShellEnvironmentPolicy): (name: string) => boolean {
  const isExcluded = anyPattern(exclude);
  const isIncluded = includeOnly.length === 0 ? () => true : anyPattern(includeOnly);
  return (name) =>
    inherit !== "none" &&
    (inherit === "all" || CORE.has(name.toUpperCase())) &&
    !isExcluded(name) &&
    isIncluded(name);
}

/** `*` stands for any characters and `?` for one; case does not matter. */
function anyPattern(patterns: readonly string[]): (name: string) => boolean {
  const all = patterns.map((pattern) => pattern.toUpperCase());
  return (name) => all.some((pattern) => fits(pattern, name.toUpperCase()));
}

/** Takes time of at most the product of both lengths, whatever the pattern is. */
function fits(pattern: string, name: string): boolean {
  let at = 0;
  let next = 0;
  /** Where to go on if what follows the last star does not fit: the star, and what it has taken so far. */
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
