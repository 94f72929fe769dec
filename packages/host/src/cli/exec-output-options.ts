import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { messageOf } from "../errors.ts";

/** Reads the JSON Schema of `--output-schema`. Returns the problem as a string if the file is not a usable schema. */
export async function readOutputSchema(
  file: string,
): Promise<
  { readonly schema: object; readonly violationOf: (answer: string) => string | undefined } | string
> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    return `cannot be read (${messageOf(cause)})`;
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (cause) {
    return `not JSON (${messageOf(cause)})`;
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return "not a JSON Schema: it has to be an object";
  const { argumentsCheck } = await import("@bobbin/rap/wire");
  try {
    const check = argumentsCheck(schema as Parameters<typeof argumentsCheck>[0]);
    return { schema, violationOf: (answer) => violation(check, answer) };
  } catch (cause) {
    return `not a JSON Schema that can be checked (${messageOf(cause)})`;
  }
}

function violation(check: (value: unknown) => string | undefined, answer: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch (cause) {
    return `it is not JSON (${messageOf(cause)})`;
  }
  return check(value)?.slice(0, 1000);
}

/** Why a file cannot be written; undefined if it probably can. Neither creates nor changes the file. */
export async function unwritable(file: string): Promise<string | undefined> {
  const path = resolve(file);
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) =>
    cause.code === "ENOENT" ? undefined : cause,
  );
  if (found instanceof Error) return found.message;
  if (found?.isDirectory()) return "it is a folder";
  try {
    await access(found === undefined ? dirname(path) : path, constants.W_OK);
    return undefined;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `there is no folder ${dirname(path)}`;
    return message;
  }
}
