import { check } from "@bobbin/protocol/check";
import { conforms } from "@bobbin/protocol/conforms";
import { type Fields, inline, type ObjectOf, type Schema } from "@bobbin/protocol/schema";

/** Validates records from disk as strictly as requests of clients. */
export interface Check {
  /** Whether the record has the fields of its type. */
  accepts(record: unknown): boolean;
  /** What is wrong with the record, for the log. */
  explain(record: unknown): string;
}

export interface RecordCheck<T> extends Check {
  /** Never set. The compiler uses it to verify that the check matches the type. */
  readonly type?: (record: T) => T;
}

/** A check for records with these fields, besides `type`. */
export function fields<F extends Fields>(make: () => F): RecordCheck<Frozen<ObjectOf<F>>> {
  const schema: Schema<unknown> = inline(make);
  return {
    accepts: (record) => conforms(schema, record),
    explain: (record) => {
      // Checks a copy, because `check` fills in and converts values.
      const violation = check(schema, structuredClone(record), { experimental: true, method: "" });
      return violation?.kind === "invalid"
        ? `${violation.path}: ${violation.message}`
        : "a value is spelled in another way than this program writes it";
    },
  };
}

/** A type without the differences that JSON cannot express: mutable or read-only, absent or undefined. */
export type Frozen<T> = T extends readonly (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> | (IsOptional<T, K> extends true ? undefined : never) }
    : T;

type IsOptional<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? true : false;
