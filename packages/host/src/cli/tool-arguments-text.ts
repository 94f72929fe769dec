import { oneLine } from "./terminal-output.ts";

/** The arguments of a tool by its JSON Schema, in a line: `text, lang?: en | de`. Empty if it has none. */
export function toolArgumentsText(schema: unknown): string {
  const { properties, required } = record(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(record(properties))
    .map(([name, property]) => {
      const type = typeWords(record(property));
      return `${oneLine(name)}${needed.has(name) ? "" : "?"}${type === "" ? "" : `: ${type}`}`;
    })
    .join(", ");
}

function typeWords({ type, enum: values, items }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(values)) return values.map((value) => oneLine(JSON.stringify(value))).join(" | ");
  if (type === "array") return `${typeWords(record(items)) || "any"}[]`;
  if (Array.isArray(type)) return type.map((one) => oneLine(String(one))).join(" | ");
  return typeof type === "string" ? oneLine(type) : "";
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
