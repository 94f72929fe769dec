import { describe, expect, it } from "vitest";
import type { AnswerLimits } from "../../model/answer-limits.ts";
import type { ModelEvent } from "../../model/model.ts";
import { AnswerSize, withinLimits } from "./answer-size.ts";

const LIMITS: AnswerLimits = { itemBytes: 100, answerBytes: 250, answerCalls: 3, turnCalls: 5 };

const started = (itemId: string): ModelEvent => ({ type: "messageStarted", itemId });
const delta = (itemId: string, text: string): ModelEvent => ({ type: "messageDelta", itemId, text });
const done = (itemId: string, text: string): ModelEvent => ({ type: "messageDone", itemId, text });
const args = (itemId: string, text: string): ModelEvent => ({
  type: "hiddenDelta",
  itemId,
  of: "call",
  text,
});
const call = (args = "{}"): ModelEvent => ({
  type: "toolCall",
  call: { callId: "c", name: "", namespace: null, arguments: args, kind: "function" },
});
const thought = (itemId: string, index: number, text: string): ModelEvent => ({
  type: "reasoningSummaryDelta",
  itemId,
  index,
  text,
});

/** The number of events within the limits, and the code of the fault after them. */
function taken(
  events: readonly ModelEvent[],
  { limits = LIMITS, callsBefore = 0 }: { limits?: AnswerLimits; callsBefore?: number } = {},
): [number, string | undefined] {
  const { taken, fault } = new AnswerSize(limits, callsBefore).add(events);
  return [taken, fault?.code];
}

describe("the size of an answer", () => {
  it("[MODEL-10] counts the bytes of an item, over all its pieces", () => {
    const message = [started("a"), delta("a", "x".repeat(60)), delta("a", "x".repeat(40))];
    expect(taken([...message, done("a", "x".repeat(100))])).toEqual([4, undefined]);
    expect(taken([...message, delta("a", "x")])).toEqual([3, "itemTooLarge"]);
    expect(taken([started("a"), delta("a", "é".repeat(51))])).toEqual([1, "itemTooLarge"]);
  });

  it("[MODEL-10] counts what an item has at its end and not in pieces", () => {
    expect(taken([started("a"), delta("a", "x"), done("a", "x".repeat(101))])).toEqual([2, "itemTooLarge"]);
    const hidden = (carry: unknown): ModelEvent => ({
      type: "reasoningDone",
      itemId: "a",
      summary: ["x".repeat(30)],
      content: ["x".repeat(30)],
      carry,
    });
    expect(taken([hidden("x".repeat(40))])).toEqual([1, undefined]);
    expect(taken([hidden("x".repeat(41))])).toEqual([0, "itemTooLarge"]);
  });

  it("[MODEL-10] counts all items together, each byte once", () => {
    const message = (id: string) => [started(id), delta(id, "x".repeat(80)), done(id, "x".repeat(80))];
    expect(taken([...message("a"), ...message("b"), ...message("c")])).toEqual([9, undefined]);
    expect(taken([...message("a"), ...message("b"), ...message("c"), delta("d", "x".repeat(11))])).toEqual([
      9,
      "answerTooLarge",
    ]);
  });

  it("[MODEL-10] counts arguments while they come, and not again with their calls", () => {
    expect(taken([args("a", "x".repeat(100)), args("a", "x")])).toEqual([1, "itemTooLarge"]);
    expect(taken([call("x".repeat(101))])).toEqual([0, "itemTooLarge"]);
    const twice = [args("a", "x".repeat(80)), args("b", "x".repeat(80)), call("x".repeat(80))];
    expect(taken([...twice, call("x".repeat(80)), delta("m", "x".repeat(90))])).toEqual([5, undefined]);
    expect(taken([...twice, call("x".repeat(80)), delta("m", "x".repeat(91))])).toEqual([
      4,
      "answerTooLarge",
    ]);
  });

  it("[MODEL-10] counts the calls of the answer and of the turn, also those that have only begun", () => {
    expect(taken([call(), call(), call(), call()])).toEqual([3, "answerTooManyCalls"]);
    expect(taken([args("a", ""), args("a", ""), args("b", ""), args("c", ""), args("d", "")])).toEqual([
      4,
      "answerTooManyCalls",
    ]);
    expect(taken([call(), call(), call()], { callsBefore: 2 })).toEqual([3, undefined]);
    expect(taken([call(), call(), call()], { callsBefore: 3 })).toEqual([2, "turnTooManyCalls"]);
  });

  it("[MODEL-10] lets no number of empty items, parts or asides be without end", () => {
    const limits = { ...LIMITS, itemBytes: 10_240, answerBytes: 20_480 };
    const many = (event: (nth: number) => ModelEvent) => Array.from({ length: 3000 }, (_, nth) => event(nth));
    expect(
      taken(
        many((nth) => started(`${nth}`)),
        { limits },
      ),
    ).toEqual([1024, "answerTooLarge"]);
    expect(
      taken(
        many(() => ({ type: "servedBy", model: "m" })),
        { limits },
      ),
    ).toEqual([1024, "answerTooLarge"]);
    expect(
      taken(
        many((nth) => thought("a", nth, "")),
        { limits },
      ),
    ).toEqual([1024, "itemTooLarge"]);
    const summary = Array.from({ length: 1025 }, () => "");
    expect(
      taken([{ type: "reasoningDone", itemId: "a", summary, content: [], carry: null }], { limits }),
    ).toEqual([0, "itemTooLarge"]);
  });

  it("[MODEL-10] ends a stream with the fault, and reads nothing behind it", async () => {
    let made = 0;
    let ended = false;
    async function* endless() {
      try {
        yield [started("a")];
        for (; ; made++) yield [delta("a", "x".repeat(30)), delta("a", "x".repeat(30))];
      } finally {
        ended = true;
      }
    }
    const heard: ModelEvent[] = [];
    for await (const events of withinLimits(endless(), new AnswerSize(LIMITS, 0), () => undefined))
      heard.push(...events);
    expect(heard.map(({ type }) => type)).toEqual([
      "messageStarted",
      "messageDelta",
      "messageDelta",
      "messageDelta",
      "failed",
    ]);
    expect([made, ended]).toEqual([1, true]);
  });
});
