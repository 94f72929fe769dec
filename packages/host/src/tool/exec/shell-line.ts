/** The arguments that start a shell with a command text, and the same command as a line for display. */
export interface ShellLine {
  /** Never contains `-l`: the environment of a login shell is captured once and passed to the command. */
  readonly argv: readonly [string, string, string];
  /** The line as a person would type it. */
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
