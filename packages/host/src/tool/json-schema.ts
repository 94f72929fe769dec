/** Why a value does not keep to a foreign JSON Schema; undefined if it does. A schema that can not be used forbids nothing. */
export async function violationOf(schema: unknown, value: unknown): Promise<string | undefined> {
  if (typeof schema !== "object" || schema === null || Object.keys(schema).length === 0) return undefined;
  // Heavy, and most threads never call a tool.
  const { Validator } = await import("@cfworker/json-schema");
  try {
    const { valid, errors } = new Validator(schema, "2020-12", true).validate(value);
    if (valid) return undefined;
    const { instanceLocation, error } = errors.at(-1)!;
    return `${instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${error}`.slice(0, 1000);
  } catch {
    return undefined;
  }
}
