import { check } from "@bobbin/protocol/check";
import { conforms } from "@bobbin/protocol/conforms";
import { type Fields, inline, type ObjectOf, type Schema } from "@bobbin/protocol/schema";

/** Reads a record that comes from disk as strictly as a request that comes from a client. */
export interface Check {
  /** Whether it is what its type says. */
  accepts(record: unknown): boolean;
  /** Where it is not, for the log. */
  explain(record: unknown): string;
}

export interface RecordCheck<T> extends Check {
  /** Never there: with it the compiler holds that the check and the type say the same. */
  readonly type?: (record: T) => T;
}

/** The check of a record with these fields, besides its `type`. */
export function fields<F extends Fields>(make: () => F): RecordCheck<Frozen<ObjectOf<F>>> {
  const schema: Schema<unknown> = inline(make);
  return {
    accepts: (record) => conforms(schema, record),
    explain: (record) => {
      // It repairs what it can, and gets a copy: the record is none of ours.
      const violation = check(schema, structuredClone(record), { experimental: true, method: "" });
      return violation?.kind === "invalid"
        ? `${violation.path}: ${violation.message}`
        : "a value is spelled in another way than this program writes it";
    },
  };
}

/** A type without the differences that JSON does not know: between read-only and not, and absent and undefined. */
export type Frozen<T> = T extends readonly (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> | (IsOptional<T, K> extends true ? undefined : never) }
    : T;

type IsOptional<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? true : false;
