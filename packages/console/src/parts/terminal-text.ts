// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals begin with control characters.
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: other control characters are removed.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Output of a command without colors and cursor movements. A line that was overwritten shows its last text. */
export function plainTerminalText(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n/g, "\n")
    .replace(/[^\n]*\r(?!\n)/g, "")
    .replace(CONTROLS, "");
}
