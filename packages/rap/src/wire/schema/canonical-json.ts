import { isObject } from "../shape.ts";
import { MAX_DEPTH, TooMuchWork, type WorkBudget } from "./work-budget.ts";

/** JSON with sorted members, so that equal values give equal texts. */
export function canonicalJson(value: unknown, work: WorkBudget, depth = 0): string {
  work.spend(1);
  if (depth > MAX_DEPTH) throw new TooMuchWork("it goes too deep");
  if (Array.isArray(value)) return `[${value.map((part) => canonicalJson(part, work, depth + 1)).join()}]`;
  if (!isObject(value)) {
    const text = JSON.stringify(value);
    work.spend(text.length / 10);
    return text;
  }
  const parts = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], work, depth + 1)}`);
  return `{${parts.join()}}`;
}
