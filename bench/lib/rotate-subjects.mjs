// Samples the subjects in turns, and starts each round with another one, so that other load on the machine affects all
// of them equally.
import { median, summarize } from "./stats.mjs";

/**
 * @typedef {object} Samples
 * @property {import("./stats.mjs").Summary} [summary]
 * @property {string} [error] why this subject could not be measured
 */

/**
 * @template {{ name: string }} S
 * @param {S[]} subjects
 * @param {{ runs: number, warmups?: number, atMostMs?: number, onRound?: (round: number, of: number) => void }} options
 * @param {(subject: S) => Promise<number | number[]>} sample one sample, or a batch of them
 * @returns {Promise<Record<string, Samples>>} by subject
 */
export async function rotate(subjects, options, sample) {
  const { runs, warmups = 0, atMostMs = 300_000, onRound } = options;
  /** @type {Map<S, number[][]>} one list per round */
  const values = new Map(subjects.map((subject) => [subject, []]));
  /** @type {Map<S, string>} */
  const errors = new Map();
  const start = performance.now();
  for (let round = 0; round < warmups + runs; round++) {
    // A slow machine does fewer rounds, but at least one.
    if (round > warmups && performance.now() - start > atMostMs) break;
    onRound?.(round + 1, warmups + runs);
    for (let i = 0; i < subjects.length; i++) {
      const subject = subjects[(i + round) % subjects.length];
      if (errors.has(subject)) continue;
      try {
        const taken = await sample(subject);
        if (round >= warmups) values.get(subject)?.push([taken].flat());
      } catch (error) {
        errors.set(subject, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return Object.fromEntries(
    subjects.map((subject) => {
      const error = errors.get(subject);
      if (error) return [subject.name, { error }];
      const rounds = values.get(subject) ?? [];
      return [subject.name, { summary: summarize(rounds.flat(), rounds.map(median)) }];
    }),
  );
}
