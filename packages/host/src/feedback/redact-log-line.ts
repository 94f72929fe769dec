import { redactValue } from "./redact-secrets.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Redacts the secrets in a log line, which is a JSON object. */
export function redactedLine(text: string, redact: (text: string) => string): JsonObject {
  try {
    // The line is redacted as a whole, because some secrets are recognized by the name before them.
    return JSON.parse(redact(text)) as JsonObject;
  } catch {
    // The redaction replaced a part of the JSON syntax, for example a number after a name like `tokens`. So each value
    // is redacted on its own.
    return redactedValues(JSON.parse(text), redact) as JsonObject;
  }
}

function redactedValues(value: unknown, redact: (text: string) => string, name = ""): unknown {
  if (typeof value === "string") return redactValue(name, value, redact);
  if (Array.isArray(value)) return value.map((one) => redactedValues(one, redact, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [redact(key), redactedValues(inner, redact, key)]),
  );
}
