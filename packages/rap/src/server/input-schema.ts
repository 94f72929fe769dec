// Schemas of tool arguments: either a schema object of a library such as zod (by the Standard Schema interface), or
// plain JSON Schema.
import { argumentsCheck, isObject, type JsonObject } from "../wire/index.ts";

/** A schema of zod 4.2 or newer, or of another library that implements Standard Schema and Standard JSON Schema. */
export interface StandardSchema<Output = unknown> {
  /** The interface that the library implements. */
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

/** The schema of a tool's arguments. With plain JSON Schema, the arguments have the type `JsonObject`. */
export type InputSchema = StandardSchema | JsonObject;

/** The type of the arguments that `run` gets. */
export type Arguments<S> = S extends StandardSchema<infer Output> ? Output : JsonObject;

/** The arguments as the tool's `run` gets them, or why they do not match the schema. */
export type CheckedArguments = { readonly args: unknown } | { readonly problem: string };

/** A tool's input schema, ready for use: its JSON Schema for the toolset, and the check of a call's arguments. */
export interface PreparedInputSchema {
  readonly inputSchema: JsonObject;
  check(args: JsonObject): Promise<CheckedArguments>;
}

/**
 * Prepares the input schema of a tool. A tool without a schema takes no arguments, and a call with arguments gets an
 * error. Throws if the JSON Schema cannot be compiled, or if the schema's library cannot convert it to the
 * JSON Schema of an object.
 */
export function prepareInputSchema(schema: InputSchema | undefined): PreparedInputSchema {
  if (schema === undefined) return fromJsonSchema({ type: "object", additionalProperties: false });
  return isStandard(schema) ? fromStandard(schema) : fromJsonSchema(schema);
}

function isStandard(schema: InputSchema): schema is StandardSchema {
  return "~standard" in schema;
}

function fromJsonSchema(inputSchema: JsonObject): PreparedInputSchema {
  const check = argumentsCheck(inputSchema);
  return {
    inputSchema,
    async check(args) {
      const problem = check(args);
      return problem === undefined ? { args } : { problem };
    },
  };
}

function fromStandard(schema: StandardSchema): PreparedInputSchema {
  const { validate, vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined)
    throw new TypeError(
      `this version of ${vendor} cannot convert its schemas to JSON Schema; zod can from version 4.2 on`,
    );
  const inputSchema = jsonSchema.input({ target: "draft-2020-12" });
  if (!isObject(inputSchema) || inputSchema["type"] !== "object")
    throw new TypeError("the schema of the arguments must describe an object");
  return {
    inputSchema,
    async check(args) {
      const result = await validate(args);
      return result.issues === undefined ? { args: result.value } : { problem: issuesText(result.issues) };
    },
  };
}

function issuesText(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, 5).map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  return lines.join("; ");
}
