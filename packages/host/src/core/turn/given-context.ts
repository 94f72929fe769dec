import type { AdditionalContextEntry } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** What a client knows besides the user's words: of its own, or of something that nobody vouches for. */
export interface ContextEntry {
  readonly key: string;
  readonly kind: AdditionalContextEntry["kind"];
  readonly value: string;
}

/** More of one entry than this is left out in its middle. */
const MAX_VALUE = 4000;

/** What comes with input, in an order that does not depend on the client. */
export function contextOf(given: Readonly<Record<string, AdditionalContextEntry>>): readonly ContextEntry[] {
  return Object.entries(given)
    .map(([key, { kind, value }]) => ({ key, kind, value: shortened(value) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** The model is shown what is new or has changed; what stays is known to it, and what is missing no longer holds. */
export function contextGiven(
  { context }: ThreadState,
  turnId: string,
  at: number,
  given: readonly ContextEntry[],
): readonly ThreadRecord[] {
  const entries = given.filter((entry) => !context.some((known) => isSame(entry, known)));
  const kept = given.filter((entry) => !entries.includes(entry)).map(({ key }) => key);
  if (entries.length === 0 && kept.length === context.length) return [];
  return [{ type: "contextGiven", turnId, at, entries, kept }];
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
