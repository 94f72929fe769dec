// Transcripts in pages: commands behind `$ `, with what they print.

export interface Step {
  readonly command: string;
  readonly output: readonly string[];
}

/** The commands of a transcript, each with the lines that it prints. */
export function stepsOf(transcript: string): readonly Step[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of transcript.trimEnd().split("\n")) {
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: [] });
    else steps.at(-1)!.output.push(line);
  }
  return steps;
}

/** A line of … stands for any lines. */
export function outputPattern(output: readonly string[]): RegExp {
  const lines = output.map((line) => (line === "…" ? "[^]*?" : `${linePattern(line)}\n`));
  return new RegExp(`^${lines.join("")}$`);
}

/**
 * … stands for any text, an id for any id, and a number for any where its unit or name says that it is measured. Wide
 * gaps follow the width of the terminal.
 */
export function linePattern(line: string): string {
  return line
    .split(
      /([0-9a-f]{8}-(?:…|(?:[0-9a-f]{4}-){3}[0-9a-f]{12})|…|just now|process \d+|ms=\d+|\d+ (?:MB|kB|min)\b|(?<=\S) {3,})/,
    )
    .map((part, at) => {
      if (at % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      if (part === "…") return ".*";
      if (part === "just now") return "(?:just now|\\d+ \\w+ ago)";
      if (part.trim() === "") return " {2,}";
      return /^[0-9a-f]{8}-/.test(part) ? "[0-9a-f-]{36}" : part.replace(/\d+/, "\\d+");
    })
    .join("");
}
