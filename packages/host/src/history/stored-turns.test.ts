import { afterEach, describe, expect, it } from "vitest";
import {
  goldenLines,
  GOLDEN_ID as ID,
  type TestHome,
  testHome,
} from "../../../../test/support/journal-home.ts";
import { allTurns } from "./stored-turns.ts";

const LINES = await goldenLines();
let home: TestHome | undefined;
afterEach(() => home?.remove());

async function turnsOf(...edits: (readonly [from: string, to: string])[]) {
  home = await testHome();
  let text = `${LINES.join("\n")}\n`;
  for (const [from, to] of edits) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  await home.put(ID, text);
  return { turns: await home.read(ID, allTurns), warnings: home.warnings };
}

describe("the turns of a journal", () => {
  it("are read whatever is wrong with what they do not show", async () => {
    const whole = await turnsOf();
    const damaged = await turnsOf(
      // The record of the turn's end contains the model's answer, too.
      ['"answer":{"type":"agentMessage"', '"answer":{"type":7,"was":"agentMessage"'],
      ['"outputSchema":null', '"outputSchemx":null'],
      ['{"type":"sampleRequested","turnId"', '{"type":"sampleRequested","turnIx"'],
    );
    expect(damaged.turns).toEqual(whole.turns);
    expect(damaged.warnings).toEqual([]);
  });

  it("are read without an item that is damaged", async () => {
    const whole = await turnsOf();
    const ids = whole.turns[0]!.items.map(({ id }) => id);
    expect(ids).toContain("m1");
    const end = await turnsOf(['"text":"I will roll six dice.","phase"', '"text":7,"phase"']);
    // The item without a completion is shown as it started.
    expect(end.turns[0]!.items.find(({ id }) => id === "m1")).toMatchObject({ text: "" });
    const both = await turnsOf(
      ['"text":"I will roll six dice.","phase"', '"text":7,"phase"'],
      ['"id":"m1","text":"","phase"', '"id":"m1","text":null,"phase"'],
    );
    expect(both.turns[0]!.items.map(({ id }) => id)).toEqual(ids.filter((id) => id !== "m1"));
  });
});
