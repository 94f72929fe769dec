/** Context windows in tokens, by a pattern of the model's name. The first match counts. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o\d/, 200_000],
  [/(^|[/:])gpt-oss/, 131_072],
  [/^claude/, 200_000],
];

/** The context window of a model in tokens; null if its name is unknown. */
export function contextWindowOf(model: string): number | null {
  return WINDOWS.find(([name]) => name.test(model))?.[1] ?? null;
}

/** The context window assumed for unknown models: 95 % of 272,000 tokens, as in the Codex CLI. */
export const ASSUMED_WINDOW = 258_400;
