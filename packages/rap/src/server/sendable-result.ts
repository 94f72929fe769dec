// Checks a result against the limits of the protocol before it is sent: if a host refused it, the model would get no
// result at all.
import {
  type CallbackMessage,
  displayProblem,
  type Image,
  LIMITS,
  parseCallback,
  type ToolResult,
} from "../wire/index.ts";
import { failure, resultMessage } from "./tool-result.ts";

export interface SendableResult {
  readonly message: ToolResult;
  /** Why the original result is not valid. `message` is then an error, or the result without its display. */
  readonly problem?: string;
}

/** Makes a result valid if possible, and otherwise replaces it by an error result. */
export function toSendable(result: ToolResult): SendableResult {
  const message = withPlainBase64(result);
  const problem = problemOf(message);
  if (problem === undefined) return { message };
  // A result is still useful without its display.
  const { display_as, ...bare } = message;
  if (display_as !== undefined && problemOf(bare) === undefined) return { message: bare, problem };
  const words = `The tool has finished, but its result is not valid: ${problem}.`;
  return { message: resultMessage(result, failure(words), false), problem };
}

/** Why a message violates the protocol or its limits; undefined if it is valid. */
export function problemOf(message: CallbackMessage): string | undefined {
  const read = parseCallback(message);
  // Parsing skips invalid display segments, so they are checked separately.
  const problem = read.ok ? displayProblem((message as Partial<ToolResult>).display_as) : read.problem;
  if (problem !== undefined) return `${problem.path} ${problem.says}`;
  let json: string;
  try {
    json = JSON.stringify(message);
  } catch {
    return "it contains a value that JSON cannot encode";
  }
  // A UTF-16 code unit takes at most three bytes of UTF-8, so only large messages have to be encoded for their size.
  if (json.length * 3 <= LIMITS.callbackBytes) return undefined;
  const bytes = new TextEncoder().encode(json).byteLength;
  if (bytes <= LIMITS.callbackBytes) return undefined;
  return `it has ${bytes} bytes, and the limit is ${LIMITS.callbackBytes}`;
}

/** Removes white space from base64 data: many encoders break it into lines. */
function withPlainBase64(result: ToolResult): ToolResult {
  const { content, display_as } = result;
  return {
    ...result,
    ...(content !== undefined && {
      content: content.map((item) => (item.type === "image" ? plain(item) : item)),
    }),
    ...(display_as !== undefined && {
      display_as: display_as.map((segment) =>
        segment.type === "image" ? { ...segment, content: plain(segment.content) } : segment,
      ),
    }),
  };
}

function plain<T extends Image>(image: T): T {
  // Tools in plain JavaScript may pass anything.
  return typeof image?.data === "string" ? { ...image, data: image.data.replace(/\s+/g, "") } : image;
}
