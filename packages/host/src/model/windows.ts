/** How much a model takes in, for those that are known by their names; the first that fits counts. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o\d/, 200_000],
  [/(^|[/:])gpt-oss/, 131_072],
  [/^claude/, 200_000],
];

export function contextWindowOf(model: string): number | null {
  return WINDOWS.find(([name]) => name.test(model))?.[1] ?? null;
}
