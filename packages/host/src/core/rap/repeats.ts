// Events that were sent twice. A sender that did not hear the answer sends the same again.

/** An event that its sender gave no name is known by its bytes for so long. */
const UNNAMED_MS = 10_000;

/** How an event is known again. */
export interface EventName {
  readonly callId: string;
  /** The sender's name for it, or null. */
  readonly key: string | null;
  /** Of the bytes that were sent. */
  readonly digest: string;
  readonly at: number;
}

/** The name that is recorded with an event. Senders' names have no spaces, so that none of them looks like a digest. */
export function recordedName({ callId, key, digest, at }: EventName): string {
  return key === null ? `${unnamed(callId, digest)}${at}` : `${callId} ${key}`;
}

/** Whether an event was received before. `names`: those that were recorded. */
export function isRepeat(names: readonly string[], event: EventName): boolean {
  const { callId, key, digest, at } = event;
  if (key !== null) return names.includes(recordedName(event));
  const same = unnamed(callId, digest);
  return names.some(
    (name) => name.startsWith(same) && Math.abs(at - Number(name.slice(same.length))) < UNNAMED_MS,
  );
}

const unnamed = (callId: string, digest: string): string => `${callId} bytes ${digest} `;
