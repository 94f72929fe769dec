// What a tool gave back, held against what hosts take: one that refuses a message says so to nobody who waits.
import {
  type CallbackMessage,
  displayProblem,
  type Image,
  LIMITS,
  parseCallback,
  type ToolResult,
} from "../wire/index.ts";
import { failure, resultMessage } from "./result.ts";

export interface Sendable {
  readonly message: ToolResult;
  /** What was wrong with the result. The message then says so, or does without that part. */
  readonly problem?: string;
}

/** A result as it can be sent; an error in its place if there is no way. */
export function sendable(result: ToolResult): Sendable {
  const message = withPlainBase64(result);
  const problem = problemOf(message);
  if (problem === undefined) return { message };
  // How people see it is the lesser part.
  const { display_as, ...bare } = message;
  if (display_as !== undefined && problemOf(bare) === undefined) return { message: bare, problem };
  const words = `The tool has finished, but its result can not be sent: ${problem}.`;
  return { message: resultMessage(result, failure(words), false), problem };
}

/** Why no host that keeps to the bounds of the wire would take it. */
export function problemOf(message: CallbackMessage): string | undefined {
  const read = parseCallback(message);
  // Hosts take a result with a display that can not be read, and do not show it.
  const problem = read.ok ? displayProblem((message as Partial<ToolResult>).display_as) : read.problem;
  if (problem !== undefined) return `${problem.path} ${problem.says}`;
  let json: string;
  try {
    json = JSON.stringify(message);
  } catch {
    return "it has something in it that JSON can not hold";
  }
  // A unit of UTF-16 is three bytes of UTF-8 at most; only what is near the bound has to be counted.
  if (json.length * 3 <= LIMITS.callbackBytes) return undefined;
  const bytes = new TextEncoder().encode(json).byteLength;
  if (bytes <= LIMITS.callbackBytes) return undefined;
  return `it has ${bytes} bytes, and must not have more than ${LIMITS.callbackBytes}`;
}

/** Many write base64 in lines. */
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
  // Tools are not all checked by a compiler.
  return typeof image?.data === "string" ? { ...image, data: image.data.replace(/\s+/g, "") } : image;
}
