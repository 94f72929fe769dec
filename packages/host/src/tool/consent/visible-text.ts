/**
 * Characters that a reader does not see, or that change how the text around them looks: control and format characters,
 * among them those for the direction of text, line ends, all spaces except the plain one, and unassigned characters.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu;

/** A text as one line in which everything is visible, for questions: what is shown is what is approved. */
export function visibleLine(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0)!;
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `<U+${hex(code)}>`;
  });
}

/** A text as JSON in which everything is visible. */
export function visibleJson(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(""),
  );
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}
