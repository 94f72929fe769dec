/**
 * @typedef {object} Summary
 * @property {number} value the median, which the table shows and the ratios use
 * @property {number} p95
 * @property {number} min
 * @property {number} max
 * @property {number} spread noise: the distance between the quartiles, relative to the median
 * @property {number} n
 */

/**
 * The p-th percentile (0 to 1), interpolated between neighbours.
 * @param {number[]} values
 * @param {number} p
 */
export function percentile(values, p) {
  if (values.length === 0) throw new Error("percentile of no values");
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * p;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

/** @param {number[]} values */
export const median = (values) => percentile(values, 0.5);

/**
 * @param {number[]} values
 * @param {number[]} rounds median of each batch, if the samples come in batches. Only differences between batches count as
 * noise, because single calls differ anyway.
 * @returns {Summary}
 */
export function summarize(values, rounds = values) {
  const value = median(values);
  return {
    value,
    p95: percentile(values, 0.95),
    min: percentile(values, 0),
    max: percentile(values, 1),
    spread: value === 0 ? 0 : (percentile(rounds, 0.75) - percentile(rounds, 0.25)) / value,
    n: values.length,
  };
}
