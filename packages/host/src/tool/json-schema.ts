import type { ArgumentsCheck } from "@bobbin/rap/wire";

const known = new WeakMap<object, ArgumentsCheck>();

/**
 * Why a value does not keep to a foreign JSON Schema; undefined if it does. Nothing keeps to a schema that can not be used:
 * what a tool would make of it, nobody knows.
 */
export async function violationOf(schema: unknown, value: unknown): Promise<string | undefined> {
  if (typeof schema !== "object" || schema === null || Object.keys(schema).length === 0) return undefined;
  const check = known.get(schema) ?? (await checkOf(schema));
  known.set(schema, check);
  return check(value)?.slice(0, 1000);
}

async function checkOf(schema: object): Promise<ArgumentsCheck> {
  // Most threads never call a tool.
  const { argumentsCheck } = await import("@bobbin/rap/wire");
  try {
    return argumentsCheck(schema as Parameters<typeof argumentsCheck>[0]);
  } catch (cause) {
    const says = `the schema of the tool can not be used: ${(cause as Error).message}`;
    return () => says;
  }
}
