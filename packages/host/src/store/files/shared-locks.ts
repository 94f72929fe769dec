// Locks in `live/` that all hosts share. They are never removed, because another host may be about to take one.

/** Held while claims of dead hosts are taken over. */
export const TAKEOVER_LOCK = "takeover.lock";
/** Held while rules are written. */
export const RULES_LOCK = "rules.lock";

export function isSharedLock(name: string): boolean {
  return name === TAKEOVER_LOCK || name === RULES_LOCK;
}
