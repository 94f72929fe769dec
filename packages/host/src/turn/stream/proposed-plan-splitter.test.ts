import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MessagePiece, PlanSplitter } from "./proposed-plan-splitter.ts";

function split(...pieces: string[]): { said: string[]; text: string; plan: string | undefined } {
  const splitter = new PlanSplitter();
  const said: MessagePiece[] = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
  const shown: { kind: string; text: string }[] = [];
  for (const { kind, text } of said) {
    const last = shown.at(-1);
    if (last?.kind === kind) last.text += text;
    else shown.push({ kind, text });
  }
  return {
    said: shown.map(({ kind, text }) => `${kind}: ${text}`),
    text: splitter.text,
    plan: splitter.plan,
  };
}

describe("a plan that a model proposes", () => {
  it("is taken out of what it says", () => {
    expect(split("Before\n<proposed_plan>\n# Plan\n- one\n</proposed_plan>\nAfter")).toEqual({
      said: ["text: Before\n", "plan: # Plan\n- one\n", "text: After"],
      text: "Before\nAfter",
      plan: "# Plan\n- one\n",
    });
  });

  it("needs its tags alone on a line", () => {
    const { said, plan } = split(
      "a <proposed_plan> b\n</proposed_plan> c\n  <proposed_plan>  \nd\n </proposed_plan>",
    );
    expect(said).toEqual(["text: a <proposed_plan> b\n</proposed_plan> c\n", "plan: d\n"]);
    expect(plan).toBe("d\n");
  });

  it("is the last of several, and may lack its end", () => {
    const two = "<proposed_plan>\none\n</proposed_plan>\n<proposed_plan>\ntwo";
    expect(split(two)).toMatchObject({ said: ["plan: one\ntwo"], plan: "two" });
    expect(split("no plan <proposed").plan).toBeUndefined();
  });

  it("does not begin on a line of hundreds of characters, however that comes", () => {
    const tag = (width: number) => `${"<proposed_plan>".padStart(width)}\nplan`;
    for (const pieces of [(text: string) => [text], (text: string) => Array.from(text)]) {
      expect(split(...pieces(tag(200))).said).toEqual(["plan: plan"]);
      expect(split(...pieces(tag(201))).said).toEqual([`text: ${tag(201)}`]);
    }
  });

  it("holds back no line that cannot become a tag", () => {
    const splitter = new PlanSplitter();
    const spaces = Array.from({ length: 1000 }, () => splitter.push(" "));
    expect(
      spaces
        .flat()
        .map(({ text }) => text)
        .join(""),
    ).toHaveLength(1000);
  });

  it("is the same however the text comes in pieces", () => {
    const words = fc.constantFrom("<proposed_plan>", "</proposed_plan>", "\n", " ", "x", "<", "-");
    fc.assert(
      fc.property(fc.array(words), fc.array(fc.nat(5)), (parts, cuts) => {
        const whole = parts.join("");
        const pieces: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(whole.slice(at, at + cut));
          at += cut;
        }
        expect(split(...pieces, whole.slice(at))).toEqual(split(whole));
      }),
    );
  });
});
