import { isObject, type JsonObject } from "../shape.ts";
import type { Schema } from "./refs.ts";
import type { WorkBudget } from "./work-budget.ts";

/** A violation of the schema. `path` says where, such as `items[2].name`. */
export interface Misfit {
  readonly path: string;
  readonly says: string;
}

/** Limit on the misfits that are taken over from one nested evaluation. */
const MAX_MISFITS = 10;

/** The outcome of an evaluation: the misfits, and the members that a keyword has evaluated (for `unevaluated*`). */
export class Verdict {
  readonly misfits: Misfit[] = [];
  readonly evaluated = new Set<string | number>();

  get fits(): boolean {
    return this.misfits.length === 0;
  }

  /** Adds the outcome of another schema for the same value. */
  join(other: Verdict): void {
    this.misfits.push(...other.misfits.slice(0, MAX_MISFITS));
    if (other.fits) for (const key of other.evaluated) this.evaluated.add(key);
  }
}

/** Evaluates a value against a schema. */
export type Evaluate = (schema: Schema, value: unknown, path: string) => Verdict;

/** What a keyword is evaluated with: the value, the schema, the path of the value and the outcome so far. */
export class KeywordContext {
  readonly work: WorkBudget;
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly path: string;
  readonly verdict: Verdict;
  readonly #evaluate: Evaluate;

  constructor(
    evaluate: Evaluate,
    work: WorkBudget,
    schema: JsonObject,
    value: unknown,
    path: string,
    verdict: Verdict,
  ) {
    this.#evaluate = evaluate;
    this.work = work;
    this.schema = schema;
    this.value = value;
    this.path = path;
    this.verdict = verdict;
  }

  readonly wrong = (says: string): void => {
    this.verdict.misfits.push({ path: this.path, says });
  };

  misfit(key: string | number, says: string): void {
    this.verdict.misfits.push({ path: this.#below(key), says });
  }

  /** Evaluates another schema for the same value, without taking over its outcome. */
  try(schema: Schema): Verdict {
    return this.#evaluate(schema, this.value, this.path);
  }

  /** Evaluates another schema for the same value, and takes over its outcome. */
  also(schema: Schema): void {
    this.verdict.join(this.try(schema));
  }

  /** Evaluates a member of the value, and takes over its misfits. */
  inside(schema: Schema, value: unknown, key: string | number): void {
    this.verdict.misfits.push(...this.tryInside(schema, value, key).misfits.slice(0, MAX_MISFITS));
  }

  tryInside(schema: Schema, value: unknown, key: string | number): Verdict {
    return this.#evaluate(schema, value, this.#below(key));
  }

  /** The entries of a keyword's array that are schemas; empty if the keyword is no array. */
  list(value: unknown): readonly Schema[] {
    return this.all(value).filter(isSchema);
  }

  all(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) return [];
    this.work.spend(value.length);
    return value;
  }

  entries(value: unknown): readonly (readonly [string, unknown])[] {
    if (!isObject(value)) return [];
    const entries = Object.entries(value);
    this.work.spend(entries.length);
    return entries;
  }

  #below(key: string | number): string {
    if (typeof key === "number") return `${this.path}[${key}]`;
    const name = key.slice(0, 200);
    return this.path === "" ? name : `${this.path}.${name}`;
  }
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "boolean" || isObject(value);
}
