import { argumentWords, joinWords, takeNamed } from "./argument-words.ts";

/** What a prompt becomes with its arguments; or the named arguments that it needs and did not get. */
export type PromptExpansion =
  | { readonly kind: "expanded"; readonly text: string }
  | { readonly kind: "missing"; readonly names: readonly string[] };

/** `$$`, `$NAME` (also `$ARGUMENTS`), or `$1` to `$9` without a further digit. */
const PLACEHOLDER = /\$(?:\$|([A-Z][A-Z0-9_]*)|([1-9])(?!\d))/g;

/**
 * Fills in the placeholders of a saved prompt. `$1` to `$9` are words of the arguments, `$ARGUMENTS` is all of them,
 * and `$NAME` is the value of `NAME=value`; quotes keep words together. `$$` gives a dollar sign. A missing word gives
 * nothing, a missing name is reported. Words that no placeholder takes are added at the end.
 *
 * @example
 * expandPrompt("Review $FILE for $1.", 'FILE=src/a.ts "slow loops"');
 * // { kind: "expanded", text: "Review src/a.ts for slow loops." }
 */
export function expandPrompt(content: string, args: string): PromptExpansion {
  const names = new Set<string>();
  let taken = 0;
  for (const [, name, nth] of content.matchAll(PLACEHOLDER)) {
    if (name === "ARGUMENTS") taken = Number.POSITIVE_INFINITY;
    else if (name !== undefined) names.add(name);
    else if (nth !== undefined) taken = Math.max(taken, Number(nth));
  }
  const { values, others: words } = takeNamed(argumentWords(args), names);
  const missing = [...names].filter((name) => !values.has(name));
  if (missing.length > 0) return { kind: "missing", names: missing };
  const text = content.replace(PLACEHOLDER, (_, name?: string, nth?: string) => {
    if (name === "ARGUMENTS") return joinWords(words);
    if (name !== undefined) return values.get(name)!;
    return nth === undefined ? "$" : (words[Number(nth) - 1]?.text ?? "");
  });
  const rest = joinWords(words.slice(taken));
  return { kind: "expanded", text: rest === "" ? text : `${text}\n\n${rest}` };
}
