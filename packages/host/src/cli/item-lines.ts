import type { ThreadItem } from "@bobbin/protocol";

/**
 * The line for an item that starts; undefined if it has none. Not escaped, although the text may come from the model.
 */
export function itemStart(item: ThreadItem): string | undefined {
  switch (item.type) {
    case "commandExecution":
      return `$ ${item.command}`;
    case "mcpToolCall":
      return `calling ${item.server}.${item.tool}`;
    case "dynamicToolCall":
      return `calling ${item.tool}`;
    default:
      return undefined;
  }
}

/** The lines for an item that has ended, without the line of its start. Not escaped. */
export function itemEnd(item: ThreadItem): string | undefined {
  switch (item.type) {
    case "reasoning":
      return item.summary.join("\n").trim() || undefined;
    case "commandExecution":
      return commandEnd(item);
    case "fileChange":
      return `${item.status}: ${item.changes.map(({ kind, path }) => `${kind.type} ${path}`).join(", ")}`;
    case "mcpToolCall":
      return item.error ? `${item.server}.${item.tool} failed: ${item.error.message}` : undefined;
    case "webSearch":
      return `searched the web for ${item.query}`;
    default:
      return undefined;
  }
}

/** Limit on the lines of a command's output. Longer output is cut in the middle. */
const OUTPUT_LINES = 20;

function commandEnd({
  status,
  exitCode,
  aggregatedOutput,
}: Extract<ThreadItem, { type: "commandExecution" }>): string | undefined {
  if (status === "declined") return "declined";
  const lines = (aggregatedOutput ?? "").trimEnd().split("\n");
  const left = lines.length - OUTPUT_LINES;
  const half = OUTPUT_LINES / 2;
  const shown = left > 0 ? [...lines.slice(0, half), `… ${left} more lines`, ...lines.slice(-half)] : lines;
  const output = shown.join("\n");
  // A negative code means that the command did not end by itself, or did not start: the output or the turn says why.
  const end = exitCode !== null && exitCode > 0 ? [`exit code ${exitCode}`] : [];
  return [...(output === "" ? [] : [output]), ...end].join("\n") || undefined;
}
