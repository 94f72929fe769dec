/** Environment variables, some of which may be missing or removed. */
export type PartialEnvironment = Readonly<Record<string, string | null | undefined>>;

/**
 * Builds the environment of a program that a user starts: the host's variables without its secrets, then the user's
 * changes. A name with `null` is removed; a variable that the user sets is passed on, whatever its name is.
 */
export function userEnvironment(
  host: PartialEnvironment,
  secrets: ReadonlySet<string>,
  changes: PartialEnvironment,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(host))
    if (value != null && !secrets.has(name)) env[name] = value;
  for (const [name, value] of Object.entries(changes)) {
    if (value == null) delete env[name];
    else env[name] = value;
  }
  return env;
}
