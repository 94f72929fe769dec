import { array, boolean, enumeration, inline, omittable, string } from "@bobbin/protocol/schema";
import { REQUEST_ANSWER, REQUEST_METHOD } from "../requests/record-field-schemas.ts";

export const LAST_HOOKS = enumeration("", ["stop", "subagentStop", "postCompact"]);

export const HOOK_OUTCOME = inline(() => ({
  block: omittable(string()),
  stop: omittable(boolean()),
  contexts: omittable(array(string())),
  feedback: omittable(string()),
  input: omittable(string()),
  answer: omittable(
    inline(() => ({ method: REQUEST_METHOD, question: omittable(string()), answer: REQUEST_ANSWER })),
  ),
}));
