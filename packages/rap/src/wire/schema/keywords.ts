// Evaluation of the JSON Schema keywords that need no regular expressions. A keyword whose own value has a wrong type
// is ignored.
import type { JsonObject } from "../shape.ts";
import { canonicalJson } from "./canonical-json.ts";
import { isSchema, type KeywordContext } from "./keyword-context.ts";
import type { Schema } from "./refs.ts";

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export function checkType(context: KeywordContext): void {
  const { schema, value, wrong, work } = context;
  const types = Array.isArray(schema["type"]) ? context.all(schema["type"]) : [schema["type"]];
  const type = typeOf(value);
  const isOf = (wanted: unknown): boolean =>
    wanted === type || (wanted === "integer" && Number.isInteger(value));
  if (schema["type"] !== undefined && !types.some(isOf)) wrong(`must be of the type ${types.join(" or ")}`);
  const { const: only, enum: some } = schema;
  if (only === undefined && !Array.isArray(some)) return;
  const same = canonicalJson(value, work);
  const isSame = (other: unknown): boolean => {
    work.spend(1);
    return typeOf(other) === type && canonicalJson(other, work) === same;
  };
  if (only !== undefined && !isSame(only)) wrong(`must be ${shown(only)}`);
  if (Array.isArray(some) && !some.some(isSame))
    wrong(`must be one of ${some.slice(0, 20).map(shown).join(", ")}`);
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 200);
}

export function checkCombinators(context: KeywordContext): void {
  const { schema, verdict, wrong } = context;
  for (const part of context.list(schema["allOf"])) context.also(part);
  if (isSchema(schema["not"]) && context.try(schema["not"]).fits) wrong("must not be of this form");
  either(context, context.list(schema["anyOf"]), false);
  either(context, context.list(schema["oneOf"]), true);
  const { if: condition, then: yes, else: no } = schema;
  if (!isSchema(condition)) return;
  const holds = context.try(condition);
  if (holds.fits) verdict.join(holds);
  const rest = holds.fits ? yes : no;
  if (isSchema(rest)) context.also(rest);
}

function either(context: KeywordContext, parts: readonly Schema[], onlyOne: boolean): void {
  if (parts.length === 0) return;
  const verdicts = parts.map((part) => context.try(part));
  const fitting = verdicts.filter(({ fits }) => fits);
  // Reports the misfits of all alternatives: only the model knows which one it meant.
  if (fitting.length === 0) for (const verdict of verdicts) context.verdict.join(verdict);
  else if (onlyOne && fitting.length > 1)
    context.wrong(`must have one of ${parts.length} forms, and has several`);
  else for (const verdict of fitting) context.verdict.join(verdict);
}

export function checkRequired(context: KeywordContext, value: JsonObject): void {
  const { required, dependentRequired, dependentSchemas, dependencies } = context.schema;
  const demand = (names: unknown): void => {
    for (const name of context.all(names))
      if (typeof name === "string" && !Object.hasOwn(value, name))
        context.wrong(`must have the property ${shown(name)}`);
  };
  demand(required);
  for (const [key, then] of [dependentRequired, dependentSchemas, dependencies].flatMap((by) =>
    context.entries(by),
  )) {
    if (!Object.hasOwn(value, key)) continue;
    if (isSchema(then)) context.also(then);
    else demand(then);
  }
}

export function checkNumber({ schema, wrong }: KeywordContext, value: number): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // Before draft 6, `exclusiveMinimum: true` made `minimum` exclusive (and likewise for the maximum).
  const above = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const below = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  if (typeof above === "number" && value <= above) wrong(`must be more than ${above}`);
  else if (typeof minimum === "number" && value < minimum) wrong(`must be ${minimum} or more`);
  if (typeof below === "number" && value >= below) wrong(`must be less than ${below}`);
  else if (typeof maximum === "number" && value > maximum) wrong(`must be ${maximum} or less`);
  if (typeof multipleOf === "number" && multipleOf > 0 && !isMultiple(value, multipleOf))
    wrong(`must be a multiple of ${multipleOf}`);
}

/** Tolerates rounding errors of floating point: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true;
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 2;
}

export function checkArray(context: KeywordContext, value: readonly unknown[]): void {
  const { schema, verdict, wrong, work } = context;
  work.spend(value.length);
  const { minItems, maxItems, uniqueItems, prefixItems, items, additionalItems, unevaluatedItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) wrong(`must have ${minItems} or more entries`);
  if (typeof maxItems === "number" && value.length > maxItems)
    wrong(`must not have more than ${maxItems} entries`);
  if (uniqueItems === true && new Set(value.map((item) => canonicalJson(item, work))).size !== value.length)
    wrong("must not have an entry twice");
  const tuple = Array.isArray(prefixItems) ? prefixItems : items;
  const first = context.list(tuple);
  const rest = Array.isArray(items) && tuple === items ? additionalItems : items;
  for (const [index, item] of value.entries()) {
    const part = index < first.length ? first[index] : rest;
    if (!isSchema(part)) continue;
    verdict.evaluated.add(index);
    context.inside(part, item, index);
  }
  checkContains(context, value);
  if (isSchema(unevaluatedItems))
    for (const [index, item] of value.entries()) {
      if (verdict.evaluated.has(index)) continue;
      verdict.evaluated.add(index);
      context.inside(unevaluatedItems, item, index);
    }
}

function checkContains(context: KeywordContext, value: readonly unknown[]): void {
  const { contains, minContains, maxContains } = context.schema;
  if (!isSchema(contains)) return;
  const least = typeof minContains === "number" ? minContains : 1;
  let count = 0;
  for (const [index, item] of value.entries()) {
    if (!context.tryInside(contains, item, index).fits) continue;
    context.verdict.evaluated.add(index);
    count++;
  }
  if (count < least) context.wrong(`must have ${least} or more entries of a form, and has ${count}`);
  if (typeof maxContains === "number" && count > maxContains)
    context.wrong(`must not have more than ${maxContains} entries of a form, and has ${count}`);
}
