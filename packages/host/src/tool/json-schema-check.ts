import type { ArgumentsCheck } from "@bobbin/rap/wire";

const compiled = new WeakMap<object, ArgumentsCheck>();

/** Why a value violates a tool's JSON Schema; undefined if it conforms. An unusable schema rejects every value. */
export async function violationOf(schema: unknown, value: unknown): Promise<string | undefined> {
  if (typeof schema !== "object" || schema === null || Object.keys(schema).length === 0) return undefined;
  const check = compiled.get(schema) ?? (await checkOf(schema));
  compiled.set(schema, check);
  return check(value)?.slice(0, 1000);
}

async function checkOf(schema: object): Promise<ArgumentsCheck> {
  // Loaded lazily, because most threads never call a tool.
  const { argumentsCheck } = await import("@bobbin/rap/wire");
  try {
    return argumentsCheck(schema as Parameters<typeof argumentsCheck>[0]);
  } catch (cause) {
    const says = `the schema of the tool cannot be used: ${(cause as Error).message}`;
    return () => says;
  }
}
