import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { ThreadSettings } from "./records.ts";

/** The record of changed settings; none if all values are the same. */
export function settingsChanged(
  { settings }: ThreadState,
  at: number,
  changes: Partial<ThreadSettings>,
): readonly ThreadRecord[] {
  const keys = Object.keys(changes) as (keyof ThreadSettings)[];
  const same = (key: keyof ThreadSettings): boolean =>
    JSON.stringify(changes[key] ?? null) === JSON.stringify(settings[key] ?? null);
  if (keys.every(same)) return [];
  return [{ type: "settingsChanged", at, settings: { ...settings, ...changes } }];
}
