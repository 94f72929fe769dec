import { isObject, type JsonObject } from "../text-files.ts";
import type { SessionLine } from "./session-lines.ts";

/** Parses a line as a JSON object; undefined if it is not one, for example a torn line. */
export function objectOf({ text }: SessionLine): JsonObject | undefined {
  const trimmed = text?.trim().replace(/^\uFEFF/, "") ?? "";
  if (!trimmed.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(trimmed);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function textAt(value: unknown, ...keys: readonly string[]): string | undefined {
  let at = value;
  for (const key of keys) at = isObject(at) ? at[key] : undefined;
  return typeof at === "string" ? at : undefined;
}

/** Parses an RFC 3339 time to milliseconds; undefined if the text is not one. */
export function timeOf(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT/.test(text)) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}

/** Makes an id valid for model providers. */
export function plainId(id: string): string {
  return id.replace(/[^\w-]/g, "_").slice(0, 64) || "_";
}

/** Makes a tool name valid for model providers. */
export function plainName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "tool";
}

/** Formats a command as one shell command line. */
export function commandText(command: unknown): string | undefined {
  if (typeof command === "string") return command;
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return undefined;
  const [shell, flag, line] = command as string[];
  if (command.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(shell!) && /^-l?c$/.test(flag!)) return line;
  return (command as string[])
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
