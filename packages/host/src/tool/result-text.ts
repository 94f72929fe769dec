const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * A tool's text for the model: without NUL and lone surrogates. If it has more than about `limit` characters, its
 * middle is cut out; `where` says where the whole text is.
 */
export function resultText(text: string, limit: number, where = ""): string {
  const whole = text.replaceAll("\0", "\uFFFD").replace(LONE_SURROGATE, "\uFFFD");
  if (whole.length <= limit) return whole;
  const half = Math.floor(limit / 2);
  const left = whole.length - 2 * half;
  const end = half === 0 ? "" : whole.slice(-half);
  return `${whole.slice(0, half)}\n… (${left} characters are left out${where}) …\n${end}`.replace(
    LONE_SURROGATE,
    "\uFFFD",
  );
}

/** The limit per text at which all texts together have at most `max` characters. Short texts stay whole. */
export function fairLimit(lengths: readonly number[], max: number): number {
  let left = max;
  for (const [at, length] of lengths.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - at));
    if (length > share) return share;
    left -= length;
  }
  return max;
}
