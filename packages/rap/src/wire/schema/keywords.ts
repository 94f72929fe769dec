// What keywords say of a value, those aside that need patterns. One whose own value is of a kind that it can not have
// forbids nothing.
import type { JsonObject } from "../shape.ts";
import { isSchema, type Place } from "./place.ts";
import type { Schema } from "./refs.ts";
import { canonical } from "./same.ts";

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export function simple(place: Place): void {
  const { schema, value, wrong, work } = place;
  const types = Array.isArray(schema["type"]) ? place.all(schema["type"]) : [schema["type"]];
  const type = typeOf(value);
  const isOf = (wanted: unknown): boolean =>
    wanted === type || (wanted === "integer" && Number.isInteger(value));
  if (schema["type"] !== undefined && !types.some(isOf)) wrong(`must be of the type ${types.join(" or ")}`);
  const { const: only, enum: some } = schema;
  if (only === undefined && !Array.isArray(some)) return;
  const same = canonical(value, work);
  const isSame = (other: unknown): boolean => {
    work.spend(1);
    return typeOf(other) === type && canonical(other, work) === same;
  };
  if (only !== undefined && !isSame(only)) wrong(`must be ${shown(only)}`);
  if (Array.isArray(some) && !some.some(isSame))
    wrong(`must be one of ${some.slice(0, 20).map(shown).join(", ")}`);
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 200);
}

export function combined(place: Place): void {
  const { schema, verdict, wrong } = place;
  for (const part of place.list(schema["allOf"])) place.also(part);
  if (isSchema(schema["not"]) && place.try(schema["not"]).fits) wrong("must not be of this form");
  either(place, place.list(schema["anyOf"]), false);
  either(place, place.list(schema["oneOf"]), true);
  const { if: condition, then: yes, else: no } = schema;
  if (!isSchema(condition)) return;
  const holds = place.try(condition);
  if (holds.fits) verdict.join(holds);
  const rest = holds.fits ? yes : no;
  if (isSchema(rest)) place.also(rest);
}

function either(place: Place, parts: readonly Schema[], onlyOne: boolean): void {
  if (parts.length === 0) return;
  const verdicts = parts.map((part) => place.try(part));
  const fitting = verdicts.filter(({ fits }) => fits);
  // Its words are those of all ways: the model knows best which of them it meant.
  if (fitting.length === 0) for (const verdict of verdicts) place.verdict.join(verdict);
  else if (onlyOne && fitting.length > 1)
    place.wrong(`must have one of ${parts.length} forms, and has several`);
  else for (const verdict of fitting) place.verdict.join(verdict);
}

export function dependent(place: Place, value: JsonObject): void {
  const { required, dependentRequired, dependentSchemas, dependencies } = place.schema;
  const demand = (names: unknown): void => {
    for (const name of place.all(names))
      if (typeof name === "string" && !Object.hasOwn(value, name))
        place.wrong(`must have the property ${shown(name)}`);
  };
  demand(required);
  for (const [key, then] of [dependentRequired, dependentSchemas, dependencies].flatMap((by) =>
    place.entries(by),
  )) {
    if (!Object.hasOwn(value, key)) continue;
    if (isSchema(then)) place.also(then);
    else demand(then);
  }
}

export function numeric({ schema, wrong }: Place, value: number): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // Until draft 6 it said of the other bound that it does not count itself.
  const above = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const below = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  if (typeof above === "number" && value <= above) wrong(`must be more than ${above}`);
  else if (typeof minimum === "number" && value < minimum) wrong(`must be ${minimum} or more`);
  if (typeof below === "number" && value >= below) wrong(`must be less than ${below}`);
  else if (typeof maximum === "number" && value > maximum) wrong(`must be ${maximum} or less`);
  if (typeof multipleOf === "number" && multipleOf > 0 && !isMultiple(value, multipleOf))
    wrong(`must be a multiple of ${multipleOf}`);
}

/** As far as numbers of this kind can tell: 0.3 is three times 0.1. */
function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true;
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 2;
}

export function listed(place: Place, value: readonly unknown[]): void {
  const { schema, verdict, wrong, work } = place;
  work.spend(value.length);
  const { minItems, maxItems, uniqueItems, prefixItems, items, additionalItems, unevaluatedItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) wrong(`must have ${minItems} or more entries`);
  if (typeof maxItems === "number" && value.length > maxItems)
    wrong(`must not have more than ${maxItems} entries`);
  if (uniqueItems === true && new Set(value.map((item) => canonical(item, work))).size !== value.length)
    wrong("must not have an entry twice");
  const tuple = Array.isArray(prefixItems) ? prefixItems : items;
  const first = place.list(tuple);
  const rest = Array.isArray(items) && tuple === items ? additionalItems : items;
  for (const [index, item] of value.entries()) {
    const part = index < first.length ? first[index] : rest;
    if (!isSchema(part)) continue;
    verdict.seen.add(index);
    place.inside(part, item, index);
  }
  contained(place, value);
  if (isSchema(unevaluatedItems))
    for (const [index, item] of value.entries()) {
      if (verdict.seen.has(index)) continue;
      verdict.seen.add(index);
      place.inside(unevaluatedItems, item, index);
    }
}

function contained(place: Place, value: readonly unknown[]): void {
  const { contains, minContains, maxContains } = place.schema;
  if (!isSchema(contains)) return;
  const least = typeof minContains === "number" ? minContains : 1;
  let count = 0;
  for (const [index, item] of value.entries()) {
    if (!place.tryInside(contains, item, index).fits) continue;
    place.verdict.seen.add(index);
    count++;
  }
  if (count < least) place.wrong(`must have ${least} or more entries of a form, and has ${count}`);
  if (typeof maxContains === "number" && count > maxContains)
    place.wrong(`must not have more than ${maxContains} entries of a form, and has ${count}`);
}
