// JSON as pages show it, with … for what was cut.

/** Stands for a value, or the rest of an object or array, that is not shown. */
export const CUT = "…";

interface Shown {
  /** Without what was cut: `{"a":1,…}` gives `{a: 1}`, and `…` inside of a text stays there. */
  readonly value: unknown;
  /** Whether nothing was cut. */
  readonly isWhole: boolean;
}

export function wholeJson(text: string): Shown {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"|…/g, (part) => (part === CUT ? '"…"' : part));
  // A cut at an element's place: behind a comma, before one, or alone.
  const closed = outside.replace(/,"…"(?=[,}\]])|(?<=[{[])"…",?/g, "");
  return { value: JSON.parse(closed), isWhole: !text.includes(CUT) };
}

/**
 * What differs between a value as a page shows it and a real one; undefined if nothing does. An object may have more
 * fields than are shown if the page's text has a cut in it. Ids and times stand for any, and … in a text for any text.
 */
export function difference(shown: unknown, real: unknown, isWhole: boolean, path = ""): string | undefined {
  if (typeof shown === "string") {
    if (typeof real !== "string" || !patternOf(shown).test(real)) return differs(path, shown, real);
    return undefined;
  }
  if (typeof shown === "number" && isTime(shown))
    return isTime(real) ? undefined : differs(path, shown, real);
  if (typeof shown !== "object" || shown === null)
    return Object.is(shown, real) ? undefined : differs(path, shown, real);
  if (typeof real !== "object" || real === null) return differs(path, shown, real);
  if (Array.isArray(shown) !== Array.isArray(real)) return differs(path, shown, real);
  const [fields, there] = [Object.entries(shown), real as Readonly<Record<string, unknown>>];
  for (const [key, value] of fields) {
    const found = difference(value, there[key], isWhole, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  if (isWhole && Object.keys(there).length !== fields.length) return differs(path, shown, real);
  return undefined;
}

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{8}-…/g;
const isTime = (value: unknown) => typeof value === "number" && value > 1e12;

function patternOf(shown: string): RegExp {
  const source = shown
    .replace(ID, "\u0000")
    .split(CUT)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^]*");
  return new RegExp(`^${source.replaceAll("\u0000", "[0-9a-f-]{36}")}$`);
}

function differs(path: string, shown: unknown, real: unknown): string {
  return `${path || "it"}: shown is ${JSON.stringify(shown)}, real is ${JSON.stringify(real)}`;
}
