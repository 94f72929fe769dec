import { Fault, fault } from "../../errors.ts";
import { parseThreadId } from "../../thread/thread-id.ts";

/**
 * Parses the ID of a thread that a request names by its relation (parent, ancestor, before). The error names the
 * relation.
 */
export function relatedThreadId(relation: "parent" | "ancestor" | "before", text: string): string {
  try {
    return parseThreadId(text);
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw fault("invalidRelation", relation, cause.message.replace(/^invalid thread id: /, ""));
  }
}
