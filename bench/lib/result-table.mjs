// Prints the results as a table.
import { judge } from "./result.mjs";

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (/** @type {number} */ code, /** @type {string} */ text) =>
  colours ? `\u001b[${code}m${text}\u001b[0m` : text;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const visible = (/** @type {string} */ text) => text.replace(/\u001b\[\d+m/g, "").length;

const HEAD = ["measure", "unit", "ours", "peer", "floor", "ours/peer", "ours/floor", "noise", "bars", ""];
const LEFT = new Set([0, 1, 8, 9]);
const NOISY = 0.2;

/** @param {import("./result.mjs").Result[]} results */
export function table(results) {
  const rows = results.map((one) => [
    one.name,
    one.unit,
    number(one.ours?.value),
    number(one.peer?.value),
    number(one.floor?.value),
    ratio(one.ratios["ours/peer"]),
    ratio(one.ratios["ours/floor"]),
    noise(one),
    one.bar.map((bar) => barText(bar, one)).join("  "),
    one.pass === null
      ? paint(2, one.bar.length > 0 ? "–" : "info")
      : one.pass
        ? paint(32, "pass")
        : paint(31, "FAIL"),
  ]);
  const all = [HEAD.map((text) => paint(1, text)), ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => visible(row[column]))));
  return all
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column], LEFT.has(column)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Notes of the measures, with a warning for noisy results. @param {import("./result.mjs").Result[]} results */
export function notes(results) {
  return results.flatMap((one) => {
    const lines = one.notes.map((note) => `${one.name}: ${note}`);
    if (spreadOf(one) > NOISY)
      lines.push(`${one.name}: noisy, run it again on a quieter machine before you trust it`);
    return lines;
  });
}

/** @param {import("./result.mjs").Result} one */
const spreadOf = (one) =>
  Math.max(0, ...[one.ours, one.peer, one.floor].map((summary) => summary?.spread ?? 0));

/** @param {import("./result.mjs").Result} one */
function noise(one) {
  const summaries = [one.ours, one.peer, one.floor].filter((summary) => summary !== undefined);
  if (!summaries.some((summary) => summary.n > 1)) return "";
  const text = `±${Math.round((spreadOf(one) / 2) * 100)} %`;
  return spreadOf(one) > NOISY ? paint(33, text) : text;
}

/**
 * @param {import("./result.mjs").Bar} bar
 * @param {import("./result.mjs").Result} one
 */
function barText(bar, one) {
  const value = bar.of === "ours" ? one.ours?.value : one.ratios[bar.of];
  const verdict = judge(bar, value);
  const own =
    bar.of !== "ours" && bar.of !== "ours/peer" && bar.of !== "ours/floor" ? ` ${ratio(value)}` : "";
  const limits = [bar.max !== undefined && `≤ ${bar.max}`, bar.min !== undefined && `≥ ${bar.min}`];
  const text = `${bar.of}${own} ${limits.filter(Boolean).join(" ")}`;
  return verdict === null ? `${text} ?` : verdict ? `${text} ✓` : paint(31, `${text} ✗`);
}

/** @param {number | undefined} value */
function number(value) {
  if (value === undefined) return "–";
  return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : value < 10_000 ? 1 : 0);
}

/** @param {number | undefined} value */
const ratio = (value) => (value === undefined ? "–" : value.toFixed(value < 0.1 ? 3 : 2));

/**
 * @param {string} cell
 * @param {number} width
 * @param {boolean} left
 */
const pad = (cell, width, left) => {
  const space = " ".repeat(width - visible(cell));
  return left ? cell + space : space + cell;
};
