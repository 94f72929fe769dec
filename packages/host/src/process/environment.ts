/** An environment in which a name may be missing. */
export type PartialEnvironment = Readonly<Record<string, string | null | undefined>>;

/**
 * The environment of a program that a user starts: the host's own without its secrets, then what the user changes. A
 * name with `null` is removed; one that the user sets is passed on, whatever it is called.
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
