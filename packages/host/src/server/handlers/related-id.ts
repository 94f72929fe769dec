import { Fault, fault } from "../../errors.ts";
import { parseThreadId } from "../../thread/thread-id.ts";

/** The id of a thread that another one is looked for by; one that is none is refused by what it was meant for. */
export function relatedId(relation: "parent" | "ancestor" | "before", text: string): string {
  try {
    return parseThreadId(text);
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw fault("invalidRelation", relation, cause.message.replace(/^invalid thread id: /, ""));
  }
}
