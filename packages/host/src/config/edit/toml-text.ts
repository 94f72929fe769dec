/** Formats a TOML key, quoted if necessary. */
export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key);
}

/** Formats a dotted TOML key, such as `a."b c".d`. */
export function tomlPath(path: readonly string[]): string {
  return path.map(tomlKey).join(".");
}

/** Formats a JSON value as TOML, on one line. */
export function tomlValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numeral(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => tomlPair(key, inner));
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

export function tomlPair(key: string, value: unknown): string {
  return `${tomlKey(key)} = ${tomlValue(value)}`;
}

/** JSON escapes are valid in TOML. U+007F needs an escape in TOML only. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

/** TOML integers have 64 bits: larger numbers are written as floats. */
function numeral(value: number): string {
  const text = String(value);
  return /^-?\d+$/.test(text) && Math.abs(value) >= 2 ** 63 ? `${text}.0` : text;
}
