import { isObject, type JsonObject } from "../shape.ts";
import { FORMATS } from "./formats.ts";
import { combined, dependent, listed, numeric, simple } from "./keywords.ts";
import { type Pattern, patternOf } from "./pattern.ts";
import { isSchema, Place, Verdict } from "./place.ts";
import type { Refs, Schema } from "./refs.ts";
import { DEEPEST, TooMuchWork, type Work } from "./work.ts";

export interface Ground {
  readonly refs: Refs;
  /** Those that were needed. Undefined for what can not be decided here, which then forbids nothing. */
  readonly patterns: Map<string, Pattern | undefined>;
  /** In older drafts, what stands beside a ref does not count. */
  readonly refStandsAlone: boolean;
}

/** One value against one schema. */
export class Evaluation {
  readonly #ground: Ground;
  readonly #work: Work;
  #depth = 0;

  constructor(ground: Ground, work: Work) {
    this.#ground = ground;
    this.#work = work;
  }

  /** Throws TooMuchWork. */
  readonly run = (schema: Schema, value: unknown, path = ""): Verdict => {
    const verdict = new Verdict();
    if (schema === true) return verdict;
    if (schema === false) {
      verdict.misfits.push({ path, says: "must not be there" });
      return verdict;
    }
    // Each has dozens of keywords to look for.
    this.#work.spend(20);
    if (++this.#depth > DEEPEST) throw new TooMuchWork("it goes too deep");
    this.#look(new Place(this.run, this.#work, schema, value, path, verdict));
    this.#depth--;
    return verdict;
  };

  #look(place: Place): void {
    const refs = this.#ground.refs.of(place.schema);
    for (const target of refs) place.also(target);
    if (refs.length > 0 && this.#ground.refStandsAlone) return;
    simple(place);
    combined(place);
    if (typeof place.value === "string") this.#text(place, place.value);
    else if (typeof place.value === "number") numeric(place, place.value);
    else if (Array.isArray(place.value)) listed(place, place.value);
    else if (isObject(place.value)) this.#members(place, place.value);
  }

  #text({ schema, wrong }: Place, text: string): void {
    const { minLength, maxLength, pattern, format } = schema;
    if (typeof minLength === "number" || typeof maxLength === "number") {
      this.#work.spend(text.length);
      const length = Array.from(text).length;
      if (length < Number(minLength ?? 0)) wrong(`must have ${String(minLength)} or more characters`);
      if (length > Number(maxLength ?? Number.POSITIVE_INFINITY))
        wrong(`must not have more than ${String(maxLength)} characters`);
    }
    if (typeof pattern === "string" && this.#isIn(pattern, text) === false)
      wrong(`must match the pattern ${pattern.slice(0, 200)}`);
    if (typeof format === "string" && FORMATS.get(format)?.(text) === false)
      wrong(`must have the format ${format}`);
  }

  /** Whether it is found in the text, if that can be told. */
  #isIn(source: string, text: string): boolean | undefined {
    const { patterns } = this.#ground;
    if (!patterns.has(source)) patterns.set(source, patternOf(source, this.#work));
    return patterns.get(source)?.isIn(text, this.#work);
  }

  #members(place: Place, value: JsonObject): void {
    const { schema, wrong, verdict } = place;
    const keys = Object.keys(value);
    this.#work.spend(keys.length);
    const { minProperties, maxProperties, properties, patternProperties, propertyNames } = schema;
    const { additionalProperties, unevaluatedProperties } = schema;
    if (typeof minProperties === "number" && keys.length < minProperties)
      wrong(`must have ${minProperties} or more properties`);
    if (typeof maxProperties === "number" && keys.length > maxProperties)
      wrong(`must not have more than ${maxProperties} properties`);
    dependent(place, value);
    if (isSchema(propertyNames)) for (const key of keys) place.inside(propertyNames, key, key);
    const named = new Set<string>();
    const look = (part: unknown, key: string): void => {
      if (!isSchema(part)) return;
      named.add(key);
      verdict.seen.add(key);
      if (part === false) place.misfit(key, "is not one of the properties");
      else place.inside(part, value[key], key);
    };
    if (isObject(properties))
      for (const key of keys) if (Object.hasOwn(properties, key)) look(properties[key], key);
    for (const [pattern, part] of place.entries(patternProperties))
      for (const key of keys) {
        const isIn = this.#isIn(pattern, key);
        if (isIn === true) look(part, key);
        // What can not be told may be one of these, and is left alone.
        else if (isIn === undefined) named.add(key);
      }
    for (const key of keys) if (!named.has(key)) look(additionalProperties, key);
    if (isSchema(unevaluatedProperties))
      for (const key of keys) if (!verdict.seen.has(key)) look(unevaluatedProperties, key);
  }
}
