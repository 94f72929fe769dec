/** How a shell is started with a text, for the process and for people. */
export interface ShellLine {
  /** The profiles of a login shell were read when its environment was captured. */
  readonly argv: readonly [string, string, string];
  /** One line as a person would type it. */
  readonly shown: string;
}

export function shellLine(shell: string, text: string, login: boolean): ShellLine {
  return {
    argv: [shell, "-c", text],
    shown: [shell, login ? "-lc" : "-c", text].map(quoted).join(" "),
  };
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
