import { isObject, type JsonObject } from "../shape.ts";
import { FORMATS } from "./formats.ts";
import { isSchema, KeywordContext, Verdict } from "./keyword-context.ts";
import { checkArray, checkCombinators, checkNumber, checkRequired, checkType } from "./keywords.ts";
import { compilePattern, type Pattern } from "./pattern-matcher.ts";
import type { Refs, Schema } from "./refs.ts";
import { MAX_DEPTH, TooMuchWork, type WorkBudget } from "./work-budget.ts";

/** A schema's parts that are worked out once and shared by all its evaluations. */
export interface PreparedSchema {
  readonly refs: Refs;
  /**
   * Compiled patterns by source, filled on first use. Undefined for a pattern that is not supported: it accepts all.
   */
  readonly patterns: Map<string, Pattern | undefined>;
  /** True for older drafts, which ignore keywords beside a `$ref`. */
  readonly refStandsAlone: boolean;
}

/** Evaluates one value against one schema, within a work budget. */
export class Evaluation {
  readonly #prepared: PreparedSchema;
  readonly #work: WorkBudget;
  #depth = 0;

  constructor(prepared: PreparedSchema, work: WorkBudget) {
    this.#prepared = prepared;
    this.#work = work;
  }

  /** Throws TooMuchWork if the budget is used up or the nesting is too deep. */
  readonly run = (schema: Schema, value: unknown, path = ""): Verdict => {
    const verdict = new Verdict();
    if (schema === true) return verdict;
    if (schema === false) {
      verdict.misfits.push({ path, says: "must not be there" });
      return verdict;
    }
    // Looking up the schema's possible keywords counts as a fixed number of steps.
    this.#work.spend(20);
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork("it goes too deep");
    this.#look(new KeywordContext(this.run, this.#work, schema, value, path, verdict));
    this.#depth--;
    return verdict;
  };

  #look(context: KeywordContext): void {
    const refs = this.#prepared.refs.of(context.schema);
    for (const target of refs) context.also(target);
    if (refs.length > 0 && this.#prepared.refStandsAlone) return;
    checkType(context);
    checkCombinators(context);
    if (typeof context.value === "string") this.#text(context, context.value);
    else if (typeof context.value === "number") checkNumber(context, context.value);
    else if (Array.isArray(context.value)) checkArray(context, context.value);
    else if (isObject(context.value)) this.#members(context, context.value);
  }

  #text({ schema, wrong }: KeywordContext, text: string): void {
    const { minLength, maxLength, pattern, format } = schema;
    if (typeof minLength === "number" || typeof maxLength === "number") {
      this.#work.spend(text.length);
      const length = Array.from(text).length;
      if (length < Number(minLength ?? 0)) wrong(`must have ${String(minLength)} or more characters`);
      if (length > Number(maxLength ?? Number.POSITIVE_INFINITY))
        wrong(`must not have more than ${String(maxLength)} characters`);
    }
    if (typeof pattern === "string" && this.#matches(pattern, text) === false)
      wrong(`must match the pattern ${pattern.slice(0, 200)}`);
    if (typeof format === "string" && FORMATS.get(format)?.(text) === false)
      wrong(`must have the format ${format}`);
  }

  /** Whether the pattern is found in the text; undefined if the pattern is not supported. */
  #matches(source: string, text: string): boolean | undefined {
    const { patterns } = this.#prepared;
    if (!patterns.has(source)) patterns.set(source, compilePattern(source, this.#work));
    return patterns.get(source)?.matches(text, this.#work);
  }

  #members(context: KeywordContext, value: JsonObject): void {
    const { schema, wrong, verdict } = context;
    const keys = Object.keys(value);
    this.#work.spend(keys.length);
    const { minProperties, maxProperties, properties, patternProperties, propertyNames } = schema;
    const { additionalProperties, unevaluatedProperties } = schema;
    if (typeof minProperties === "number" && keys.length < minProperties)
      wrong(`must have ${minProperties} or more properties`);
    if (typeof maxProperties === "number" && keys.length > maxProperties)
      wrong(`must not have more than ${maxProperties} properties`);
    checkRequired(context, value);
    if (isSchema(propertyNames)) for (const key of keys) context.inside(propertyNames, key, key);
    const named = new Set<string>();
    const look = (part: unknown, key: string): void => {
      if (!isSchema(part)) return;
      named.add(key);
      verdict.evaluated.add(key);
      if (part === false) context.misfit(key, "is not one of the properties");
      else context.inside(part, value[key], key);
    };
    if (isObject(properties))
      for (const key of keys) if (Object.hasOwn(properties, key)) look(properties[key], key);
    for (const [pattern, part] of context.entries(patternProperties))
      for (const key of keys) {
        const matches = this.#matches(pattern, key);
        if (matches === true) look(part, key);
        // An unsupported pattern may match the key, so `additionalProperties` must not reject it.
        else if (matches === undefined) named.add(key);
      }
    for (const key of keys) if (!named.has(key)) look(additionalProperties, key);
    if (isSchema(unevaluatedProperties))
      for (const key of keys) if (!verdict.evaluated.has(key)) look(unevaluatedProperties, key);
  }
}
