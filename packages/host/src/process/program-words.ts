/** Texts that a program is started with, by the names of what they were given as. */
export type ProgramWords = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** The first of these texts that no program can be started with, and why; null if all will do. */
export function wordProblem(words: ProgramWords): { readonly name: string; readonly problem: string } | null {
  const isBad = (text: string | null | undefined): boolean => text?.includes("\0") ?? false;
  const bad = Object.entries(words).find(([, value]) => [value].flat().some(isBad));
  return bad === undefined ? null : { name: bad[0], problem: "must not contain the character NUL" };
}
