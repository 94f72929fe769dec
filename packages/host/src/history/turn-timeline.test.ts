import { afterEach, describe, expect, it } from "vitest";
import {
  goldenLines,
  GOLDEN_ID as ID,
  type TestHome,
  testHome,
} from "../../../../test/support/journal-home.ts";
import { journalPage } from "./journal-entry-pages.ts";
import { turnTimeline } from "./turn-timeline.ts";

const LINES = await goldenLines();
const commits = LINES.map((line) => JSON.parse(line) as { seq: number; records: { type: string }[] });
let home: TestHome | undefined;
afterEach(() => home?.remove());

/** The golden journal has records of every type and version that was ever written. */
async function golden(): Promise<TestHome> {
  home = await testHome();
  await home.put(ID, `${LINES.join("\n")}\n`);
  return home;
}

describe("a journal with every type of record", () => {
  it("is read whole, with what was sent", async () => {
    const { data } = await (await golden()).read(ID, (journal) =>
      journalPage({ threadId: ID, journal, toolServers: ["desk"] }, { limit: 500, includeJson: true }),
    );
    const records = commits.flatMap((commit) => commit.records);
    expect(data.map(({ type }) => type)).toEqual(records.map(({ type }) => type).reverse());
    expect(new Set(data.flatMap(({ sent }) => sent.map(({ kind }) => kind)))).toEqual(
      new Set(["notification", "request", "toolServerNotice"]),
    );
  });

  it("gives the timeline of each turn, with the thread's model at that time", async () => {
    const turns = commits.flatMap(({ records }) =>
      records.flatMap((record) =>
        record.type === "turnStarted" ? [(record as unknown as { turnId: string }).turnId] : [],
      ),
    );
    const stored = await golden();
    for (const turnId of turns) {
      const timeline = await stored.read(ID, (journal) =>
        turnTimeline(journal, turnId, { costOf: () => 1, model: "m" }),
      );
      expect(timeline.turnId).toBe(turnId);
      for (const { startedAtMs, endedAtMs } of timeline.spans)
        expect(endedAtMs ?? startedAtMs).toBeGreaterThanOrEqual(startedAtMs);
    }
    const first = await stored.read(ID, (journal) =>
      turnTimeline(journal, turns[0]!, { costOf: () => null, model: "m" }),
    );
    expect(first.unpricedModels).not.toContain("");
    expect(first.spans.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["model", "tool", "wait", "question", "message"]),
    );
  });
});
