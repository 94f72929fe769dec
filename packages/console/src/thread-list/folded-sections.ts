import { type Signal, signal } from "@preact/signals";
import { storedValue, storeValue } from "../parts/stored-value.ts";

const STORED = "bobbin-folded-sections";

/** Sections of which only the heading is shown. The browser remembers them. */
export const foldedSections: Signal<ReadonlySet<string>> = signal(new Set(stored()));

export function toggleFolded(id: string): void {
  const folded = new Set(foldedSections.value);
  if (!folded.delete(id)) folded.add(id);
  foldedSections.value = folded;
  storeValue(STORED, JSON.stringify([...folded]));
}

function stored(): string[] {
  try {
    const ids: unknown = JSON.parse(storedValue(STORED) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}
