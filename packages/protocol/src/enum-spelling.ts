// The protocol's documents spell the same enum value as `workspaceWrite`, `workspace-write` or (sort keys)
// `created_at`, so all three are accepted. Used only for values that are not found as they are.

/** The value among `values` of which `text` is the camelCase, kebab-case or snake_case spelling. */
export function respell(text: string, values: Iterable<string>): string | undefined {
  if (text.length > 64) return undefined;
  for (const value of values) {
    const words = value
      .replace(/[a-z0-9](?=[A-Z])/g, "$&_")
      .toLowerCase()
      .split(/[-_]/);
    if (words.length < 2) continue;
    if (text === words.join("-") || text === words.join("_") || text === camel(words)) return value;
  }
  return undefined;
}

function camel(words: readonly string[]): string {
  return words.map((word, index) => (index ? word.charAt(0).toUpperCase() + word.slice(1) : word)).join("");
}
