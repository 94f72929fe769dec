import { conforms } from "@bobbin/protocol/conforms";
import { McpElicitationSchema } from "@bobbin/protocol/types";
import type { ServerQuestion } from "../../core/requests/mcp-server-questions.ts";
import { resultText } from "../result-text.ts";
import { type McpElicitation, McpError } from "./mcp-interface.ts";

/** Limits on the parts of an elicitation, in characters. */
const MAX_MESSAGE = 8 * 1024;
const MAX_SCHEMA = 64 * 1024;
const MAX_META = 16 * 1024;
const MAX_URL = 8 * 1024;
const MAX_ID = 512;

/** An elicitation in the form for clients. `url` is separate, because it is a secret and must not be in journals. */
export interface ReadElicitation {
  readonly question: ServerQuestion;
  readonly url: string | null;
}

/** Validates an elicitation. Throws an `McpError` with the reason, which is sent to the server. */
export function readElicitation(elicitation: McpElicitation): ReadElicitation {
  const message = resultText(elicitation.message, MAX_MESSAGE);
  const _meta = metaOf(elicitation.meta);
  if (elicitation.mode === "url") {
    const { url, elicitationId } = elicitation;
    if (elicitationId.length > MAX_ID) throw invalid(`elicitationId has more than ${MAX_ID} characters`);
    return { question: { mode: "url", _meta, message, elicitationId, url: "" }, url: addressOf(url) };
  }
  const { requestedSchema } = elicitation;
  if (JSON.stringify(requestedSchema).length > MAX_SCHEMA)
    throw invalid(`requestedSchema has more than ${MAX_SCHEMA} characters`);
  if (!conforms(McpElicitationSchema, requestedSchema))
    throw invalid("requestedSchema is not an object with fields of primitive types");
  const schema = requestedSchema as unknown as McpElicitationSchema;
  return { question: { mode: "form", _meta, message, requestedSchema: schema }, url: null };
}

/** Validates the URL of an elicitation. Only web URLs are accepted, because a client may open any URL that it gets. */
function addressOf(url: string): string {
  const isWeb = url.length <= MAX_URL && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) throw invalid(`url is no address of a web page, or has more than ${MAX_URL} characters`);
  return url;
}

/** Removes the `_meta` fields of the host's own questions, so that a server cannot imitate them. */
function metaOf(meta: unknown): unknown {
  if (typeof meta !== "object" || meta === null || Array.isArray(meta)) return null;
  const own = Object.entries(meta).filter(
    ([name]) => !/^(codex|bobbin)_|^(persist|tool_|connector_)/.test(name),
  );
  if (own.length === 0) return null;
  const allowed = Object.fromEntries(own);
  return JSON.stringify(allowed).length <= MAX_META ? allowed : null;
}

function invalid(why: string): McpError {
  return new McpError("invalid", `The question cannot be asked: ${why}.`);
}
