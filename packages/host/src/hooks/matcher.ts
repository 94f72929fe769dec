/** Returns why a matcher is invalid; undefined if it is valid. */
export function matcherProblem(matcher: string): string | undefined {
  if (isPlain(matcher)) return undefined;
  try {
    new RegExp(matcher);
    return undefined;
  } catch (cause) {
    return (cause as Error).message;
  }
}

/**
 * Whether a matcher accepts one of the names. No matcher, "" and "*" accept everything. A matcher of letters, digits,
 * `_` and `|` is a list of names; any other is a regular expression.
 */
export function matches(matcher: string | null, names: readonly string[]): boolean {
  if (matcher === null || matcher === "" || matcher === "*") return true;
  if (isPlain(matcher)) {
    const wanted = matcher.split("|");
    return names.some((name) => wanted.includes(name));
  }
  const pattern = new RegExp(matcher);
  return names.some((name) => pattern.test(name));
}

function isPlain(matcher: string): boolean {
  return matcher === "*" || /^[A-Za-z0-9_|]*$/.test(matcher);
}
