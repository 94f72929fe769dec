// Grant keys contain JSON and come from journals. A damaged key must not cause an exception; it grants nothing.

/** Parses the JSON after a key's first word; undefined if it is not JSON. */
export function parsedKey(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value if it is a list of strings, else undefined. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}
