import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { ThreadSettings } from "./records.ts";

/** One record if anything really changes. */
export function settingsChanged(
  { settings }: ThreadState,
  at: number,
  changes: Partial<ThreadSettings>,
): readonly ThreadRecord[] {
  const keys = Object.keys(changes) as (keyof ThreadSettings)[];
  if (keys.every((key) => JSON.stringify(changes[key]) === JSON.stringify(settings[key]))) return [];
  return [{ type: "settingsChanged", at, settings: { ...settings, ...changes } }];
}
