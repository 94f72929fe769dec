import { Lexer, type Token, type Tokens } from "marked";

/** A link definition, such as `[name]: https://…`, changes links anywhere in the text. */
const DEFINITION = /^[ \t>*+\d.)-]*\[(?:[^\]\\]|\\.){0,1000}\]:/ms;
/** Text that begins like HTML may become an HTML block that ends much later. */
const HTML = /^[ \t>*+\d.)-]*</m;
/** Blocks that an empty line ends, whatever follows. Lists, for example, may continue after it. */
const ENDS: ReadonlySet<string> = new Set(["paragraph", "heading", "blockquote", "table", "hr", "code"]);

/**
 * Parses a text that grows at its end, as a running answer does. Blocks that more text cannot change are parsed once. If
 * the text changes in any other way, all of it is parsed again.
 */
export class IncrementalParser {
  #text = "";
  #tokens: readonly Token[] = [];
  /** The number of tokens, and of characters, that are final. */
  #finalTokens = 0;
  #finalLength = 0;

  parse(source: string): readonly Token[] {
    // Normalizes line ends as the lexer does, so that the positions are right.
    const text = source.includes("\r") ? source.replace(/\r\n|\r/g, "\n") : source;
    const isGrown = text.startsWith(this.#text) && !DEFINITION.test(text.slice(this.#finalLength));
    if (!isGrown) {
      this.#finalTokens = 0;
      this.#finalLength = 0;
    }
    const tail = new Lexer({ gfm: true }).lex(text.slice(this.#finalLength));
    this.#tokens = [...this.#tokens.slice(0, this.#finalTokens), ...tail];
    this.#text = text;
    this.#advance();
    return this.#tokens;
  }

  /** Moves the end of the final part to the last empty line that ends a block. */
  #advance(): void {
    const tokens = this.#tokens;
    let length = this.#finalLength;
    for (let at = this.#finalTokens; at < tokens.length - 1; at++) {
      const { raw } = tokens[at]!;
      // If the lexer leaves out characters, the positions of all later tokens are unknown.
      if (HTML.test(raw) || DEFINITION.test(raw) || !this.#text.startsWith(raw, length)) return;
      length += raw.length;
      const block = tokens[at]!.type === "space" ? tokens[at - 1] : tokens[at];
      const hasEmptyLine = this.#text.startsWith("\n\n", length - 2);
      if (!hasEmptyLine || tokens[at + 1]!.type === "space" || !endsWithEmptyLine(block)) continue;
      this.#finalTokens = at + 1;
      this.#finalLength = length;
    }
  }
}

function endsWithEmptyLine(block: Token | undefined): boolean {
  if (block === undefined || !ENDS.has(block.type)) return false;
  return block.type !== "code" || (block as Tokens.Code).codeBlockStyle !== "indented";
}
