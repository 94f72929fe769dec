// Recognizes repeated events. A sender that did not get the host's reply sends the same event again.

/** How long a repeat of an event without a name is recognized by the digest of its bytes. */
const UNNAMED_MS = 10_000;

/** What identifies an event. */
export interface EventName {
  readonly callId: string;
  /** The sender's name for the event, or null. */
  readonly key: string | null;
  /** The digest of the bytes that were sent. */
  readonly digest: string;
  readonly at: number;
}

/**
 * The name that is recorded with an event. Names from senders contain no spaces, so that none can look like a digest.
 */
export function recordedName({ callId, key, digest, at }: EventName): string {
  return key === null ? `${unnamed(callId, digest)}${at}` : `${callId} ${key}`;
}

/** Whether an event was received before. `names`: the recorded names. */
export function isRepeat(names: readonly string[], event: EventName): boolean {
  const { callId, key, digest, at } = event;
  if (key !== null) return names.includes(recordedName(event));
  const same = unnamed(callId, digest);
  return names.some(
    (name) => name.startsWith(same) && Math.abs(at - Number(name.slice(same.length))) < UNNAMED_MS,
  );
}

const unnamed = (callId: string, digest: string): string => `${callId} bytes ${digest} `;
