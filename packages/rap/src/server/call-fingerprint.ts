import { type Invocation, isObject } from "../wire/index.ts";

/**
 * A short hash of a call's operation and arguments, to tell a repeated call from another call with the same id. The
 * order of members does not matter.
 */
export function fingerprintOf({ operation, arguments: args }: Invocation): string {
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  const text = canonical([operation, args]);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
  }
  return `${one >>> 0} ${other >>> 0} ${text.length}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
