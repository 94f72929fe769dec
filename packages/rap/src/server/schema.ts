// Two ways to describe arguments: a schema that is a program (zod and others, by the Standard Schema interface), and
// JSON Schema as data.
import { argumentsCheck, isObject, type JsonObject } from "../wire/index.ts";

/** A schema of zod 4.2 or newer, or of another library with the Standard Schema and Standard JSON Schema interfaces. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonObject };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A description of arguments. JSON Schema as data gives arguments no type but that of an object. */
export type InputSchema = StandardSchema | JsonObject;

/** What `run` gets as arguments. */
export type Arguments<S> = S extends StandardSchema<infer Output> ? Output : JsonObject;

export type Checked = { readonly args: unknown } | { readonly problem: string };

/** A description of arguments, ready for use: what is told of it, and what holds values against it. */
export interface Input {
  readonly inputSchema: JsonObject;
  check(args: JsonObject): Promise<Checked>;
}

/** Throws what is wrong with a schema that can not be used. */
export function inputOf(schema: InputSchema | undefined): Input {
  // Without arguments, any argument is a mistake, and the model is told.
  if (schema === undefined) return fromJsonSchema({ type: "object", additionalProperties: false });
  return isStandard(schema) ? fromStandard(schema) : fromJsonSchema(schema);
}

function isStandard(schema: InputSchema): schema is StandardSchema {
  return "~standard" in schema;
}

function fromJsonSchema(inputSchema: JsonObject): Input {
  const check = argumentsCheck(inputSchema);
  return {
    inputSchema,
    async check(args) {
      const problem = check(args);
      return problem === undefined ? { args } : { problem };
    },
  };
}

function fromStandard(schema: StandardSchema): Input {
  const { validate, vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined)
    throw new TypeError(
      `this version of ${vendor} can not tell a schema as JSON Schema; zod can from 4.2 on`,
    );
  const inputSchema = jsonSchema.input({ target: "draft-2020-12" });
  if (!isObject(inputSchema) || inputSchema["type"] !== "object")
    throw new TypeError("arguments are an object, and the schema describes something else");
  return {
    inputSchema,
    async check(args) {
      const result = await validate(args);
      return result.issues === undefined ? { args: result.value } : { problem: told(result.issues) };
    },
  };
}

function told(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, 5).map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  return lines.join("; ");
}
