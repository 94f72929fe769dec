import type { AdditionalContextEntry } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** Additional context that a client sends with input: from the application itself, or from an untrusted source. */
export interface ContextEntry {
  readonly key: string;
  readonly kind: AdditionalContextEntry["kind"];
  readonly value: string;
}

/** Limit on the characters of one entry. Longer values are cut in the middle. */
const MAX_VALUE = 4000;

/** The entries of additional context, sorted by key. */
export function contextOf(
  entriesByKey: Readonly<Record<string, AdditionalContextEntry>>,
): readonly ContextEntry[] {
  return Object.entries(entriesByKey)
    .map(([key, { kind, value }]) => ({ key, kind, value: shortened(value) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/**
 * The record of additional context: the entries that are new or changed, and in `kept` the keys of unchanged ones.
 */
export function contextGiven(
  { context }: ThreadState,
  turnId: string,
  at: number,
  inputEntries: readonly ContextEntry[],
): readonly ThreadRecord[] {
  const entries = inputEntries.filter((entry) => !context.some((known) => isSame(entry, known)));
  const unchangedKeys = inputEntries.filter((entry) => !entries.includes(entry)).map(({ key }) => key);
  if (entries.length === 0 && unchangedKeys.length === context.length) return [];
  return [{ type: "contextGiven", turnId, at, entries, kept: unchangedKeys }];
}

export function contextAfter(
  context: readonly ContextEntry[],
  { entries, kept }: { readonly entries: readonly ContextEntry[]; readonly kept: readonly string[] },
): readonly ContextEntry[] {
  return [...context.filter(({ key }) => kept.includes(key)), ...entries];
}

function isSame(one: ContextEntry, other: ContextEntry): boolean {
  return one.key === other.key && one.kind === other.kind && one.value === other.value;
}

function shortened(value: string): string {
  if (value.length <= MAX_VALUE) return value;
  const half = MAX_VALUE / 2;
  return `${value.slice(0, half)}…${value.length - MAX_VALUE} characters left out…${value.slice(-half)}`;
}
