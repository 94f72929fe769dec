import { describe, expect, it } from "vitest";
import { expandPrompt } from "./expand-prompt.ts";

/** The text that a prompt becomes. Fails if an argument is missing. */
function expanded(content: string, args = ""): string {
  const expansion = expandPrompt(content, args);
  if (expansion.kind === "missing") throw new Error(`missing: ${expansion.names}`);
  return expansion.text;
}

describe("the words of the arguments", () => {
  it("[PROMPT-4] fill $1 to $9, each as often as it is used, and nothing where a word is missing", () => {
    expect(expanded("$2, then $1, then $2.", "one two")).toBe("two, then one, then two.");
    expect(expanded("<$1$2$3>", "one")).toBe("<one>");
    expect(expanded("$9", "1 2 3 4 5 6 7 8 nine")).toBe("nine");
  });

  it("[PROMPT-4] are kept together by quotes, which open only where a word or a value begins", () => {
    expect(expanded("[$1] [$2]", `"one two" 'three "four"'`)).toBe(`[one two] [three "four"]`);
    expect(expanded("[$1]", String.raw`"a \"b\" \\ \n"`)).toBe(String.raw`[a "b" \ \n]`);
    expect(expanded("[$1] [$2]", "don't it's")).toBe("[don't] [it's]");
    expect(expanded("[$1] [$2]", '"not closed')).toBe('["not] [closed]');
    expect(expanded("[$1] [$2]", "'not closed")).toBe("['not] [closed]");
    expect(expanded("[$1] [$2]", '"a"b c')).toBe('["a"b] [c]');
    expect(expanded("[$1] [$2]", '"" b')).toBe("[] [b]");
    expect(expanded("[$1]", 'a="b c"')).toBe("[a=b c]");
  });

  it("[PROMPT-4] are all in $ARGUMENTS, with the line breaks between them", () => {
    expect(expanded("Say: $ARGUMENTS!", "  one 'two three'  ")).toBe("Say: one two three!");
    expect(expanded("$ARGUMENTS", "one\n  two")).toBe("one\n  two");
    expect(expanded("<$ARGUMENTS>")).toBe("<>");
    expect(expanded("$1: $ARGUMENTS", "a b")).toBe("a: a b");
  });

  it("[PROMPT-4] are added at the end if no placeholder takes them", () => {
    expect(expanded("Review.", "be kind")).toBe("Review.\n\nbe kind");
    expect(expanded("Review $1.", "a.ts be kind")).toBe("Review a.ts.\n\nbe kind");
    expect(expanded("Review $FILE.", "be FILE=a.ts kind")).toBe("Review a.ts.\n\nbe kind");
    expect(expanded("Review.", "  \n ")).toBe("Review.");
  });
});

describe("named arguments", () => {
  it("[PROMPT-4] fill the placeholders of their names", () => {
    const args = `TITLE="Fix the login" ID=7 NOTE=`;
    expect(expanded("$ID: $TITLE ($ID)$NOTE", args)).toBe("7: Fix the login (7)");
    expect(expanded("$A_1", "A_1='x y'")).toBe("x y");
    expect(expanded("$A", "A=1 A=2")).toBe("2");
  });

  it("[PROMPT-4] are reported if they are missing, each once", () => {
    expect(expandPrompt("$FILE $FOCUS $FILE", "src/a.ts")).toEqual({
      kind: "missing",
      names: ["FILE", "FOCUS"],
    });
    // Names are compared letter by letter.
    expect(expandPrompt("$FILE", "file=a FILES=b")).toEqual({ kind: "missing", names: ["FILE"] });
  });

  it("[PROMPT-4] are words if the prompt has no such placeholder", () => {
    expect(expanded("Run $ARGUMENTS", "NODE_ENV=test make")).toBe("Run NODE_ENV=test make");
    expect(expanded("$FILE: $1", "X=1 FILE=a")).toBe("a: X=1");
  });
});

describe("dollar signs", () => {
  it("[PROMPT-4] stay where they begin no placeholder, and $$ gives one", () => {
    expect(expanded("$ $0 $10 $100 $name $(FILE) 5$", "one")).toBe("$ $0 $10 $100 $name $(FILE) 5$\n\none");
    expect(expanded("$$1 $$HOME $$$$ $$$1", "one")).toBe("$1 $HOME $$ $one");
  });

  it("[PROMPT-4] in arguments are not placeholders", () => {
    expect(expanded("$1 $2", "$2 $$")).toBe("$2 $$");
    expect(expanded("$A $ARGUMENTS", "A=$ARGUMENTS $A $& $1")).toBe("$ARGUMENTS $A $& $1");
  });
});
