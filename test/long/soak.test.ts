import { describe, expect, it } from "vitest";
import { times } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";

// bench/ is plain JavaScript, so that it runs without a build; what is used of it is stated here.
interface Residue {
  readonly heap: number;
  readonly counts: Readonly<Record<string, number>>;
}
interface Soaked {
  readonly before: Residue;
  readonly after: Residue;
}
interface SoakModule {
  soakOurs(options: { threads: number; turns: number; atMostMs: number }): Promise<Soaked>;
  leftBehind(before: Residue, after: Residue): readonly string[];
}

const module = new URL("../../bench/lib/soak.mjs", import.meta.url).href;
const { soakOurs, leftBehind } = (await import(/* @vite-ignore */ module)) as SoakModule;

const SIZE = { threads: times(40, 200), turns: times(400, 4_000) };
/** What is kept of threads' pasts for their next turns grows to its bound; a turn itself has to leave nothing. */
const PASTS_BYTES = 6 * 1024 * 1024;

describe("a host that has run many turns", () => {
  it("[LOAD-8] has no more timers, listeners, signals or memory than before", {
    timeout: STUCK_MS,
  }, async () => {
    const { before, after } = await soakOurs({ ...SIZE, atMostMs: STUCK_MS });
    expect(leftBehind(before, after)).toEqual([]);
    expect(after.heap).toBeLessThan(before.heap + PASTS_BYTES);
    // They were looked for in the right place.
    expect(before.counts["emitters"]).toBeGreaterThan(0);
    expect(before.counts["listeners of emitters"]).toBeGreaterThan(0);
  });
});
