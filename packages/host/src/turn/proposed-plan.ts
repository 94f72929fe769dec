/** What a model says, taken apart: what is for people to read, and the plan that it proposes. */
export interface Said {
  readonly kind: "text" | "plan";
  readonly text: string;
}

/** A tag has no more white space around it: a line is looked at anew with each piece of it. */
const LONGEST_TAG_LINE = 200;

const TAGS = { text: "<proposed_plan>", plan: "</proposed_plan>" } as const;

/** Takes plans out of a text as it grows. A tag stands alone on its line; what may still become one is held back. */
export class PlanSplitter {
  #inside: Said["kind"] = "text";
  /** The beginning of a line that may become a tag; undefined in the middle of one that is none. */
  #held: string | undefined = "";
  /** The last plan that was begun. */
  plan: string | undefined;
  text = "";

  push(more: string): readonly Said[] {
    const said: Said[] = [];
    for (const piece of more.match(/[^\n]*\n|[^\n]+/g) ?? []) this.#take(piece, said);
    return said;
  }

  /** Nothing more comes. */
  end(): readonly Said[] {
    const said: Said[] = [];
    if (this.#held !== undefined && this.#held !== "") this.#settle(this.#held, said);
    this.#held = "";
    return said;
  }

  /** A line, or the part of one that has come. */
  #take(piece: string, said: Said[]): void {
    const ends = piece.endsWith("\n");
    if (this.#held === undefined) {
      this.#say(piece, said);
      if (ends) this.#held = "";
      return;
    }
    const line = this.#held + piece;
    if (ends) {
      this.#settle(line, said);
      this.#held = "";
    } else if (line.length <= LONGEST_TAG_LINE && TAGS[this.#inside].startsWith(line.trim())) {
      this.#held = line;
    } else {
      this.#held = undefined;
      this.#say(line, said);
    }
  }

  #settle(line: string, said: Said[]): void {
    // One more, for its end.
    if (line.length > LONGEST_TAG_LINE + 1 || line.trim() !== TAGS[this.#inside]) {
      return this.#say(line, said);
    }
    this.#inside = this.#inside === "text" ? "plan" : "text";
    if (this.#inside === "plan") this.plan = "";
  }

  #say(text: string, said: Said[]): void {
    if (this.#inside === "plan") this.plan += text;
    else this.text += text;
    said.push({ kind: this.#inside, text });
  }
}
