import { isObject, type JsonObject } from "../shape.ts";
import type { Schema } from "./refs.ts";
import type { Work } from "./work.ts";

/** What does not fit, and where: `items[2].name`. */
export interface Misfit {
  readonly path: string;
  readonly says: string;
}

/** More than this is not told. */
const MOST = 10;

/** What came of it: which members of the value some keyword has spoken about, and what does not fit. */
export class Verdict {
  readonly misfits: Misfit[] = [];
  readonly seen = new Set<string | number>();

  get fits(): boolean {
    return this.misfits.length === 0;
  }

  /** What holds for the same value. */
  join(other: Verdict): void {
    this.misfits.push(...other.misfits.slice(0, MOST));
    if (other.fits) for (const key of other.seen) this.seen.add(key);
  }
}

/** Holds a value against a schema. */
export type Evaluate = (schema: Schema, value: unknown, path: string) => Verdict;

/** A value, and the schema that it is held against. */
export class Place {
  readonly work: Work;
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly path: string;
  readonly verdict: Verdict;
  readonly #evaluate: Evaluate;

  constructor(
    evaluate: Evaluate,
    work: Work,
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

  /** What another schema says of the same value. */
  try(schema: Schema): Verdict {
    return this.#evaluate(schema, this.value, this.path);
  }

  also(schema: Schema): void {
    this.verdict.join(this.try(schema));
  }

  /** A member of the value. */
  inside(schema: Schema, value: unknown, key: string | number): void {
    this.verdict.misfits.push(...this.tryInside(schema, value, key).misfits.slice(0, MOST));
  }

  tryInside(schema: Schema, value: unknown, key: string | number): Verdict {
    return this.#evaluate(schema, value, this.#below(key));
  }

  /** The schemas in a list that the schema has. */
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
