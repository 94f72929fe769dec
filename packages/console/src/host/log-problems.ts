import type { ServerLogLine } from "@bobbin/protocol";
import type { Problem } from "./recent-problems.ts";

/** Lines of the host's log as problems. The fields that explain a line are shown with it. */
export function logProblems(lines: readonly ServerLogLine[]): readonly Problem[] {
  return lines.map(({ time, level, message, fields }, at) => {
    const { threadId, ...others } = fields;
    const details = Object.entries(others)
      .filter(([name]) => !HIDDEN.has(name))
      .map(([name, value]) => `${name}: ${valueText(value)}`);
    return {
      key: `${time} ${at}`,
      atMs: time,
      text: [`${level === "error" ? "Error" : "Warning"}: ${message}`, ...details].join(" · "),
      threadId: typeof threadId === "string" ? threadId : null,
    };
  });
}

/** Log fields that are not shown. `bobbin logs` shows them. */
const HIDDEN: ReadonlySet<string> = new Set(["stack", "pid"]);
const MAX_VALUE = 500;

function valueText(value: unknown): string {
  const text =
    typeof value === "string"
      ? value
      : isError(value)
        ? value.message
        : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text;
}

function isError(value: unknown): value is { readonly message: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { message?: unknown }).message === "string"
  );
}
