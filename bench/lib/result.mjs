// The result of a measure, and its comparison with bars (targets). Bars are ratios where possible, because ratios hold
// on any machine and milliseconds do not.

/**
 * @typedef {object} Bar
 * @property {string} of name of a ratio ("ours/peer", "ours/floor" or one of the measure's own), or "ours" for the value itself
 * @property {number} [max]
 * @property {number} [min]
 */

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {string} unit
 * @property {import("./stats.mjs").Summary} [ours]
 * @property {import("./stats.mjs").Summary} [peer]
 * @property {import("./stats.mjs").Summary} [floor]
 * @property {Record<string, number>} ratios
 * @property {Bar[]} bar empty for a result without a target
 * @property {boolean | null} pass null if there is no bar, or none that can be judged (without the peer)
 * @property {string[]} notes
 */

/**
 * @param {object} parts
 * @param {string} parts.name
 * @param {string} parts.unit
 * @param {Record<string, import("./rotate-subjects.mjs").Samples>} parts.samples by subject: ours, peer, floor
 * @param {Bar[]} [parts.bar]
 * @param {Record<string, number>} [parts.ratios] further ratios besides ours/peer and ours/floor
 * @param {string[]} [parts.notes]
 * @returns {Result}
 */
export function result({ name, unit, samples, bar = [], ratios = {}, notes = [] }) {
  const [ours, peer, floor] = ["ours", "peer", "floor"].map((subject) => samples[subject]?.summary);
  /** @type {Record<string, number>} */
  const all = { ...ratios };
  if (ours && peer) all["ours/peer"] = ours.value / peer.value;
  if (ours && floor) all["ours/floor"] = ours.value / floor.value;
  const failures = Object.entries(samples).flatMap(([who, s]) =>
    s.error ? [`${who} failed: ${s.error}`] : [],
  );
  const verdicts = bar.map((one) => judge(one, one.of === "ours" ? ours?.value : all[one.of]));
  return {
    name,
    unit,
    ...(ours && { ours }),
    ...(peer && { peer }),
    ...(floor && { floor }),
    ratios: all,
    bar,
    pass: samples.ours?.error || verdicts.includes(false) ? false : verdicts.includes(true) ? true : null,
    notes: [...failures, ...unjudged(bar, verdicts, Boolean(ours)), ...notes],
  };
}

/**
 * @param {Bar} bar
 * @param {number | undefined} value
 * @returns {boolean | null}
 */
export function judge(bar, value) {
  if (value === undefined) return null;
  return value <= (bar.max ?? Number.POSITIVE_INFINITY) && value >= (bar.min ?? Number.NEGATIVE_INFINITY);
}

/**
 * @param {Bar[]} bar
 * @param {(boolean | null)[]} verdicts
 * @param {boolean} measured
 */
function unjudged(bar, verdicts, measured) {
  if (!measured) return [];
  const missing = bar.filter((_, i) => verdicts[i] === null).map((one) => one.of);
  return missing.length > 0
    ? [`bars not judged, because the other program was not measured: ${missing.join(", ")}`]
    : [];
}
