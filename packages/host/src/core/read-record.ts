import type { RecordCheck } from "./record-check.ts";
import { RECORDS, type ThreadRecord } from "./records.ts";

/** What stands in a journal in a record's place. */
export type ReadRecord =
  | { readonly kind: "record"; readonly record: ThreadRecord }
  /** Of a type or a version that a later program writes: it must not be guessed at. */
  | { readonly kind: "newer" }
  | { readonly kind: "damaged"; readonly why: string };

interface Known {
  readonly version: number;
  readonly check: Pick<RecordCheck<never>, "accepts" | "explain">;
}

// A type comes from disk: `constructor` and its kin must not find what an object inherits.
const ENTRIES: ReadonlyMap<unknown, Known> = new Map<unknown, Known>(
  Object.entries(RECORDS).map(([type, { version, check }]) => [type, { version, check }]),
);

export function readRecord(value: unknown): ReadRecord {
  if (typeof value !== "object" || value === null) return damaged("it is not an object");
  const { type, v = 1 } = value as { readonly type?: unknown; readonly v?: unknown };
  if (typeof type !== "string") return damaged("it has no type");
  if (!Number.isSafeInteger(v) || (v as number) < 1) return damaged(`${type} has no version`);
  const entry = ENTRIES.get(type);
  if (entry === undefined || (v as number) > entry.version) return { kind: "newer" };
  if (!entry.check.accepts(value)) return damaged(`${type}: ${entry.check.explain(value)}`);
  return { kind: "record", record: value as ThreadRecord };
}

function damaged(why: string): ReadRecord {
  return { kind: "damaged", why };
}
