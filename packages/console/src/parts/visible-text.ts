/**
 * Characters that a reader does not see, or that change how the text around them looks: as in the terminal's questions
 * (`visible-text.ts` of the host), except for line ends and tabs.
 */
const INVISIBLE = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu;

/** A text of a question in which everything is visible: what is shown is what is approved. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0)!;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
