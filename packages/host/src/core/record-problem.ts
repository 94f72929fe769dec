import type { Check } from "./record-check.ts";
import { RECORDS } from "./records.ts";

// Maps, because a type from disk may be the name of an inherited property, such as `constructor`.
const VERSIONS: ReadonlyMap<unknown, number> = new Map<unknown, number>(
  Object.entries(RECORDS).map(([type, { version }]) => [type, version]),
);
const CHECKS: Checks = new Map<unknown, Check>(
  Object.entries(RECORDS).map(([type, { check }]) => [type, check]),
);

type Checks = ReadonlyMap<unknown, Check>;

/**
 * What is wrong with a record from a journal; undefined if it is valid. `newer`: a later version of the program wrote
 * the record, and this version cannot interpret it. `unwanted`: the record's type is not in `wanted`. Any other text
 * describes the damage.
 */
export function problemOf(
  value: unknown,
  wanted: Checks = CHECKS,
): "newer" | "unwanted" | string | undefined {
  if (typeof value !== "object" || value === null) return "it is not an object";
  const record = value as { readonly type?: unknown; readonly v?: unknown };
  const check = wanted.get(record.type);
  // The fast path for most records.
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

/**
 * Whether a type differs from a known type by a single bit. A failing disk causes that; a newer version's type
 * differs more.
 */
function isMisspelled(type: string): boolean {
  return Object.keys(RECORDS).some((known) => differsByOneBit(known, type));
}

function differsByOneBit(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let bits = 0;
  for (let at = 0; at < one.length; at++) {
    // The expression is nonzero if more than one bit differs.
    const difference = one.charCodeAt(at) ^ other.charCodeAt(at);
    if (difference !== 0 && (difference & (difference - 1)) !== 0) return false;
    if (difference !== 0) bits++;
  }
  return bits === 1;
}
