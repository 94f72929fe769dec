import type { McpElicitationPrimitiveSchema, McpElicitationSchema } from "@bobbin/protocol";

/** A field of a form from an MCP server. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly kind: "text" | "email" | "url" | "date" | "datetime-local" | "number" | "boolean" | "one" | "many";
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly initial: FormValue;
}

export type FormValue = string | boolean | readonly string[];

const FORMATS = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" } as const;

export function formFields({ properties, required }: McpElicitationSchema): readonly FormField[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    title: schema.title ?? name,
    description: schema.description ?? "",
    isRequired: required?.includes(name) ?? false,
    ...shapeOf(schema),
  }));
}

function shapeOf(schema: McpElicitationPrimitiveSchema): Pick<FormField, "kind" | "choices" | "initial"> {
  switch (schema.type) {
    case "boolean":
      return { kind: "boolean", choices: [], initial: schema.default ?? false };
    case "number":
    case "integer":
      return { kind: "number", choices: [], initial: schema.default == null ? "" : String(schema.default) };
    case "array": {
      const { items } = schema;
      const choices =
        "anyOf" in items
          ? items.anyOf.map(({ const: value, title }) => ({ value, label: title }))
          : items.enum.map((value) => ({ value, label: value }));
      return { kind: "many", choices, initial: schema.default ?? [] };
    }
    case "string": {
      if ("oneOf" in schema) {
        const choices = schema.oneOf.map(({ const: value, title }) => ({ value, label: title }));
        return { kind: "one", choices, initial: schema.default ?? "" };
      }
      if ("enum" in schema) {
        const names = "enumNames" in schema ? schema.enumNames : undefined;
        const choices = schema.enum.map((value, at) => ({ value, label: names?.[at] ?? value }));
        return { kind: "one", choices, initial: schema.default ?? "" };
      }
      const format = "format" in schema && schema.format ? FORMATS[schema.format] : "text";
      return { kind: format, choices: [], initial: schema.default ?? "" };
    }
  }
}

/** The content of the answer. Empty fields are left out. */
export function formContent(
  fields: readonly FormField[],
  values: Readonly<Record<string, FormValue>>,
): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const { name, kind, initial } of fields) {
    const value = values[name] ?? initial;
    if (value === "") continue;
    if (kind === "number") content[name] = Number(value);
    else if (kind === "datetime-local") content[name] = new Date(String(value)).toISOString();
    else content[name] = value;
  }
  return content;
}

export function isFilledIn(
  fields: readonly FormField[],
  values: Readonly<Record<string, FormValue>>,
): boolean {
  return fields.every(({ name, isRequired, initial, kind }) => {
    const value = values[name] ?? initial;
    return !isRequired || kind === "boolean" || (typeof value !== "boolean" && value.length > 0);
  });
}
