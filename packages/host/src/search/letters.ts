/** Classes of characters, on which the bonuses of a match depend. */
export const LetterClass = {
  whitespace: 0,
  nonWord: 1,
  delimiter: 2,
  lower: 3,
  upper: 4,
  other: 5,
  number: 6,
} as const;
export type LetterClass = (typeof LetterClass)[keyof typeof LetterClass];

/** Whether a text is ASCII, so that each UTF-16 unit is one character. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

const segmenter = lazily(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/** The characters (grapheme clusters) of a text, each by its first code point. */
export function lettersOf(text: string): number[] {
  if (isAscii(text)) return Array.from(text, (letter) => letter.charCodeAt(0));
  return Array.from(segmenter().segment(text), ({ segment }) => segment.codePointAt(0)!);
}

const ASCII_CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return LetterClass.lower;
  if (code >= 65 && code <= 90) return LetterClass.upper;
  if (code >= 48 && code <= 57) return LetterClass.number;
  if (code === 32 || (code >= 9 && code <= 13)) return LetterClass.whitespace;
  return code === 47 ? LetterClass.delimiter : LetterClass.nonWord;
});

/** The class of an ASCII character. */
export function asciiClassOf(code: number): LetterClass {
  return ASCII_CLASSES[code]! as LetterClass;
}

/** The class of any character. */
export function classOf(code: number): LetterClass {
  if (code < 128) return asciiClassOf(code);
  const letter = String.fromCodePoint(code);
  if (/\p{Lowercase}/u.test(letter)) return LetterClass.lower;
  if (/\p{Uppercase}/u.test(letter)) return LetterClass.upper;
  if (/\p{N}/u.test(letter)) return LetterClass.number;
  if (/\p{Alphabetic}/u.test(letter)) return LetterClass.other;
  return /\p{White_Space}/u.test(letter) ? LetterClass.whitespace : LetterClass.nonWord;
}

/** The lower-case form of a code point. */
export function toLowerCode(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  const lower = String.fromCodePoint(code).toLowerCase();
  const [first, second] = lower;
  // A letter whose lower-case form has two code points is not changed.
  return second === undefined ? first!.codePointAt(0)! : code;
}

/** A Latin letter without its diacritics: `e` for `é`. Other characters are unchanged. */
export function withoutDiacritics(code: number): number {
  if (code < 0xaa || code > 0x2184) return code;
  const letter = String.fromCodePoint(code);
  const base = STROKES[letter] ?? letter.normalize("NFKD");
  const [first] = base;
  return first !== undefined && first < "\x80" ? first.charCodeAt(0) : code;
}

/** Letters with diacritics that Unicode normalization does not decompose. */
const STROKES: Readonly<Record<string, string>> = {
  Ð: "D",
  ð: "d",
  Ø: "O",
  ø: "o",
  ß: "s",
  Đ: "D",
  đ: "d",
  Ħ: "H",
  ħ: "h",
  ı: "i",
  Ł: "L",
  ł: "l",
  Ŋ: "N",
  ŋ: "n",
  Ŧ: "T",
  ŧ: "t",
};

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
