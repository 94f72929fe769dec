import type { Check } from "./record-check.ts";
import { RECORDS } from "./records.ts";

// A type comes from disk: `constructor` and its kin must not find what an object inherits.
const VERSIONS: ReadonlyMap<unknown, number> = new Map<unknown, number>(
  Object.entries(RECORDS).map(([type, { version }]) => [type, version]),
);
const CHECKS: Checks = new Map<unknown, Check>(
  Object.entries(RECORDS).map(([type, { check }]) => [type, check]),
);

type Checks = ReadonlyMap<unknown, Check>;

/**
 * What is wrong with a value that stands in a journal in a record's place; undefined if nothing is. `newer`: a later program
 * wrote it, and it must not be guessed at. `unwanted`: it is of no type that is wanted. Else why it is damaged, in
 * words.
 */
export function problemOf(
  value: unknown,
  wanted: Checks = CHECKS,
): "newer" | "unwanted" | string | undefined {
  if (typeof value !== "object" || value === null) return "it is not an object";
  const record = value as { readonly type?: unknown; readonly v?: unknown };
  const check = wanted.get(record.type);
  // Thousands of records are read before this is compiled: most of them are done here.
  if (record.v === undefined) {
    if (check === undefined) {
      if (VERSIONS.has(record.type)) return "unwanted";
    } else if (check.accepts(value)) return undefined;
  }
  return explained(record, check);
}

function explained(
  record: { readonly type?: unknown; readonly v?: unknown },
  check: Check | undefined,
): string | undefined {
  const { type, v = 1 } = record;
  if (typeof type !== "string") return "it has no type";
  if (!Number.isSafeInteger(v) || (v as number) < 1) return `${type} has no version`;
  const version = VERSIONS.get(type);
  if (version === undefined) return isMisspelled(type) ? `${type} is no type: a bit of it is wrong` : "newer";
  if ((v as number) > version) return "newer";
  if (check === undefined) return "unwanted";
  return check.accepts(record) ? undefined : `${type}: ${check.explain(record)}`;
}

/** No later program has a type that differs from one of ours by a single bit: that is what a failing disk makes of it. */
function isMisspelled(type: string): boolean {
  return Object.keys(RECORDS).some((known) => differsByOneBit(known, type));
}

function differsByOneBit(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let bits = 0;
  for (let at = 0; at < one.length; at++) {
    // A bit is the only one of a number if nothing is left without it.
    const difference = one.charCodeAt(at) ^ other.charCodeAt(at);
    if (difference !== 0 && (difference & (difference - 1)) !== 0) return false;
    if (difference !== 0) bits++;
  }
  return bits === 1;
}
