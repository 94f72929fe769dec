import { isObject } from "../shape.ts";
import { DEEPEST, TooMuchWork, type Work } from "./work.ts";

/** A text that is the same for values that are the same: the order of members does not matter. */
export function canonical(value: unknown, work: Work, depth = 0): string {
  work.spend(1);
  if (depth > DEEPEST) throw new TooMuchWork("it goes too deep");
  if (Array.isArray(value)) return `[${value.map((part) => canonical(part, work, depth + 1)).join()}]`;
  if (!isObject(value)) {
    const text = JSON.stringify(value);
    work.spend(text.length / 10);
    return text;
  }
  const parts = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key], work, depth + 1)}`);
  return `{${parts.join()}}`;
}
