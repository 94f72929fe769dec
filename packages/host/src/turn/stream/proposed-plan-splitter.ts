/** A part of a model's message: text, or a part of a proposed plan. */
export interface MessagePiece {
  readonly kind: "text" | "plan";
  readonly text: string;
}

/** Limit on the length of a line that may be a tag. Such a line is checked again at each delta. */
const LONGEST_TAG_LINE = 200;

const TAGS = { text: "<proposed_plan>", plan: "</proposed_plan>" } as const;

/**
 * Separates plans from a text that arrives in pieces. A tag is alone on its line; a line that may become a tag is
 * delayed.
 */
export class PlanSplitter {
  #inside: MessagePiece["kind"] = "text";
  /** The delayed beginning of a line that may become a tag; undefined within a line that is not a tag. */
  #delayed: string | undefined = "";
  /** The text of the last plan so far. */
  plan: string | undefined;
  /** The text outside of plans so far. */
  text = "";

  push(more: string): readonly MessagePiece[] {
    const pieces: MessagePiece[] = [];
    for (const piece of more.match(/[^\n]*\n|[^\n]+/g) ?? []) this.#take(piece, pieces);
    return pieces;
  }

  /** Ends the text. Returns the delayed line, unless it is a tag. */
  end(): readonly MessagePiece[] {
    const pieces: MessagePiece[] = [];
    if (this.#delayed !== undefined && this.#delayed !== "") this.#settle(this.#delayed, pieces);
    this.#delayed = "";
    return pieces;
  }

  /** Adds a line, or a part of one. */
  #take(piece: string, pieces: MessagePiece[]): void {
    const ends = piece.endsWith("\n");
    if (this.#delayed === undefined) {
      this.#say(piece, pieces);
      if (ends) this.#delayed = "";
      return;
    }
    const line = this.#delayed + piece;
    if (ends) {
      this.#settle(line, pieces);
      this.#delayed = "";
    } else if (line.length <= LONGEST_TAG_LINE && TAGS[this.#inside].startsWith(line.trim())) {
      this.#delayed = line;
    } else {
      this.#delayed = undefined;
      this.#say(line, pieces);
    }
  }

  #settle(line: string, pieces: MessagePiece[]): void {
    // One more character, for the line feed.
    if (line.length > LONGEST_TAG_LINE + 1 || line.trim() !== TAGS[this.#inside]) {
      return this.#say(line, pieces);
    }
    this.#inside = this.#inside === "text" ? "plan" : "text";
    if (this.#inside === "plan") this.plan = "";
  }

  #say(text: string, pieces: MessagePiece[]): void {
    if (this.#inside === "plan") this.plan += text;
    else this.text += text;
    pieces.push({ kind: this.#inside, text });
  }
}
