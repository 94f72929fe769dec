/** The languages that are highlighted, each with the names and file extensions that stand for it. */
const NAMES: Readonly<Record<string, string>> = {
  bash: "sh shell zsh console bashrc",
  c: "h",
  cpp: "c++ cc cxx hpp hh hxx",
  csharp: "cs c#",
  css: "scss less",
  diff: "patch",
  dockerfile: "docker",
  go: "golang",
  ini: "toml cfg conf properties",
  java: "",
  javascript: "js jsx mjs cjs",
  json: "jsonc json5 jsonl",
  kotlin: "kt kts",
  lua: "",
  makefile: "make mk",
  markdown: "md mdx",
  php: "",
  python: "py pyi",
  ruby: "rb",
  rust: "rs",
  sql: "",
  swift: "",
  typescript: "ts tsx mts cts",
  xml: "html xhtml svg vue htm",
  yaml: "yml",
};

let byName: ReadonlyMap<string, string> | undefined;

/** The language that a name behind the fence of a code block means; undefined if it is not highlighted. */
export function languageOf(name: string): string | undefined {
  byName ??= new Map(
    Object.entries(NAMES).flatMap(([language, others]) =>
      [language, ...others.split(" ")].map((each) => [each, language] as const),
    ),
  );
  return name === "" ? undefined : byName.get(name.toLowerCase());
}

/** The language of a file, by the end of its name. */
export function languageOfFile(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return languageOf(name.slice(name.lastIndexOf(".") + 1));
}
