import { textAt } from "../session/session-line-fields.ts";
import type { JsonObject } from "../text-files.ts";
import { isMessage } from "./claude-messages.ts";

/** The lines on a session's main branch. */
export interface MainBranch {
  has(line: JsonObject): boolean;
}

interface Link {
  readonly parent: string | undefined;
  /** Id of the previous message in the file. */
  readonly before: string | undefined;
}

/**
 * Finds the main branch of a session. A session is a tree: editing an earlier message starts a branch, and all
 * branches stay in the file. The main branch is the path from the last message to the first. Results of parallel tool
 * calls are attached to their calls, and belong to the branch of the call.
 */
export async function mainBranch(
  lines: AsyncIterable<JsonObject | undefined> | Iterable<JsonObject | undefined>,
): Promise<MainBranch> {
  const links = new Map<string, Link>();
  let last: string | undefined;
  for await (const line of lines) {
    if (line === undefined || line["isSidechain"] === true) continue;
    const id = textAt(line, "uuid");
    if (id === undefined) continue;
    // A compaction starts a new tree. It names the message that it continues; if it names none, it continues the
    // previous message in the file.
    const summed = line["subtype"] === "compact_boundary" ? last : undefined;
    const parent = textAt(line, "parentUuid") ?? textAt(line, "logicalParentUuid") ?? summed;
    links.set(id, { parent, before: last });
    if (isMessage(line)) last = id;
  }
  const counted = new Set<string>();
  for (let at = last; at !== undefined && !counted.has(at); ) {
    counted.add(at);
    const { parent, before }: Link = links.get(at) ?? { parent: undefined, before: undefined };
    // If the parent is missing in the file, the previous message is used.
    at = parent !== undefined && links.has(parent) ? parent : parent === undefined ? undefined : before;
  }
  return {
    has(line) {
      const id = textAt(line, "uuid");
      // Files of the first versions have neither ids nor branches.
      if (id === undefined || counted.has(id)) return true;
      const parent = textAt(line, "parentUuid");
      return parent !== undefined && counted.has(parent) && isToolPart(line);
    },
  };
}

/** Whether a line only contains tool calls or tool results. */
function isToolPart(line: JsonObject): boolean {
  const message = line["message"] as { readonly content?: unknown } | undefined;
  const content = Array.isArray(message?.content) ? message.content : [];
  return (
    content.length > 0 && content.every((part) => /^tool_(use|result)$/.test(textAt(part, "type") ?? ""))
  );
}
