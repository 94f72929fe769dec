// Compares the orders in which two versions of the Codex CLI send what they send in the recorded cases.

/**
 * @typedef {object} Order
 * @property {readonly string[]} lines what the client was sent, as far as the case went
 * @property {string | null} problem why the case did not end as it was recorded; null if it did
 */

/** @typedef {Record<string, Order>} Orders by name of the case */

/**
 * The cases that two runs played in different orders.
 * @param {Orders} before @param {Orders} after
 * @returns {string[]}
 */
export function differingCases(before, after) {
  const isSame = (/** @type {string} */ name) =>
    JSON.stringify(before[name]?.lines) === JSON.stringify(after[name].lines);
  return Object.keys(after)
    .filter((name) => !isSame(name))
    .sort();
}

/**
 * The differences between two versions, as text for people.
 * @param {Orders} before @param {Orders} after
 * @param {readonly [Orders, Orders]} again the differing cases, played again with both versions
 * @returns {string[]}
 */
export function orderDifferences(before, after, again) {
  const differing = differingCases(before, after);
  const varying = new Set([...differingCases(before, again[0]), ...differingCases(after, again[1])]);
  return [
    ...differing
      .filter((name) => !varying.has(name))
      .flatMap((name) => [`  case ${name}`, ...changes(before[name]?.lines ?? [], after[name].lines)]),
    ...differing
      .filter((name) => varying.has(name))
      .map((name) => `~ case ${name}: its order varies with one version`),
    ...Object.keys(after)
      .sort()
      .filter((name) => !differing.includes(name) && after[name].problem !== null)
      .flatMap((name) => [
        `? case ${name}: both end otherwise than recorded`,
        `    ${firstLine(after[name])}`,
      ]),
  ];
}

/** @param {Order} order */
function firstLine({ problem }) {
  return (problem ?? "").split("\n")[0].slice(0, 200);
}

/** The lines of two orders that are not in both, each with its number. */
function changes(/** @type {readonly string[]} */ before, /** @type {readonly string[]} */ after) {
  const common = lengths(before, after);
  const lines = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && before[i] === after[j]) [i, j] = [i + 1, j + 1];
    else if (j === after.length || (i < before.length && common[i + 1][j] >= common[i][j + 1]))
      lines.push(`  - ${i + 1}: ${before[i++]}`);
    else lines.push(`  + ${j + 1}: ${after[j++]}`);
  }
  return lines;
}

/** The length of the longest common part of what is left of both, by the positions in each. */
function lengths(/** @type {readonly string[]} */ before, /** @type {readonly string[]} */ after) {
  const table = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      table[i][j] =
        before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  return table;
}
