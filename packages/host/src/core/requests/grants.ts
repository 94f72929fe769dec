import type { ThreadState } from "../state.ts";

const NONE: readonly never[] = [];

/** Adds a grant: an approval of the user for the rest of the session. */
export function withGrant(state: ThreadState, key: string, at: number | undefined): ThreadState {
  const grants = state.grants.includes(key) ? state.grants : [...state.grants, key];
  return at === undefined
    ? { ...state, grants }
    : { ...state, grants, grantTimes: { ...state.grantTimes, [key]: at } };
}

export function withoutGrant(state: ThreadState, key: string): ThreadState {
  const grants = state.grants.filter((one) => one !== key);
  if (grants.length === 0) return withoutAnyGrant(state);
  const { [key]: _, ...grantTimes } = state.grantTimes ?? {};
  return { ...state, grants, grantTimes };
}

export function withoutAnyGrant(state: ThreadState): ThreadState {
  const { grantTimes: _, ...rest } = state;
  return { ...rest, grants: NONE };
}
