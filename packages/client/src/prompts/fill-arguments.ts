import type { McpPromptArgument } from "@bobbin/protocol";
import { argumentWords, joinWords, takeNamed } from "./argument-words.ts";

/** The values of a prompt's arguments, and the words that are left; or the required names that are missing. */
export type FilledArguments =
  | { readonly kind: "filled"; readonly values: Readonly<Record<string, string>>; readonly rest: string }
  | { readonly kind: "missing"; readonly names: readonly string[] };

/**
 * Fills the arguments that an MCP prompt declares. `NAME=value` fills that argument. Other words fill the remaining
 * ones in their order; the last of them takes all words that are left.
 */
export function fillArguments(declared: readonly McpPromptArgument[], args: string): FilledArguments {
  const { values, others } = takeNamed(argumentWords(args), new Set(declared.map(({ name }) => name)));
  const open = declared.filter(({ name }) => !values.has(name));
  for (const [at, { name }] of open.entries()) {
    if (at >= others.length) break;
    const isLast = at === open.length - 1;
    values.set(name, isLast ? joinWords(others.slice(at)) : others[at]!.text);
  }
  const names = declared
    .filter(({ name, required }) => required && !values.has(name))
    .map(({ name }) => name);
  if (names.length > 0) return { kind: "missing", names };
  return {
    kind: "filled",
    values: Object.fromEntries(values),
    rest: open.length === 0 ? joinWords(others) : "",
  };
}
