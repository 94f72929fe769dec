/** The arguments, paths and variables that a program is started with, by the names of the request's fields. */
export type ProgramWords = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** The first field with a NUL character, which no program can be started with; null if there is none. */
export function wordProblem(words: ProgramWords): { readonly name: string; readonly problem: string } | null {
  const isBad = (text: string | null | undefined): boolean => text?.includes("\0") ?? false;
  const bad = Object.entries(words).find(([, value]) => [value].flat().some(isBad));
  return bad === undefined ? null : { name: bad[0], problem: "must not contain the character NUL" };
}
