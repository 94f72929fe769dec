import type { Transformer } from "node:stream/web";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Limit on the bytes of an error page that are read. */
const ERROR_BYTES = 16 * 1024;

export interface ResponseLimits {
  readonly maxBytes: number;
  /** The error of a body that exceeds `maxBytes`. */
  exceeded(): Error;
  /** Called after each event of an event stream. Resolves when the next one may be read; undefined if at once. */
  passed(bytes: number): Promise<void> | undefined;
}

/**
 * Limits a response's body: for an event stream the size of each event, and how fast events are read; for other bodies
 * the total size. Of an error page only the beginning is read.
 */
export function boundedResponse(response: Response, limits: ResponseLimits): Response {
  const { status, statusText, headers, body } = response;
  if (body === null) return response;
  if (status >= 300 && status < 400) {
    void body.cancel().catch(() => {});
    return new Response(null, { status, statusText, headers });
  }
  const isEvents = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const limit = !response.ok ? beginning(ERROR_BYTES) : isEvents ? perEvent(limits) : inAll(limits);
  return new Response(body.pipeThrough(new TransformStream(limit)), { status, statusText, headers });
}

type Limit = Transformer<Uint8Array, Uint8Array>;

function inAll({ maxBytes, exceeded }: ResponseLimits): Limit {
  let length = 0;
  return {
    transform(piece, controller) {
      length += piece.length;
      if (length > maxBytes) controller.error(exceeded());
      else controller.enqueue(piece);
    },
  };
}

function beginning(maxBytes: number): Limit {
  let left = maxBytes;
  return {
    transform(piece, controller) {
      controller.enqueue(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) controller.terminate();
    },
  };
}

/** An empty line ends an event. An empty line without an event counts as one, so that nothing is free of cost. */
function perEvent({ maxBytes, exceeded, passed }: ResponseLimits): Limit {
  let event = 0;
  let line = 0;
  return {
    async transform(piece, controller) {
      let unsent = 0;
      let at = 0;
      for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, at)) {
        line += end - at;
        const isEmpty = line === 0 || (line === 1 && (end === at || piece[end - 1] === CARRIAGE_RETURN));
        event += line + 1;
        line = 0;
        at = end + 1;
        if (!isEmpty) continue;
        if (event > maxBytes) break;
        const pause = passed(event);
        event = 0;
        if (pause === undefined) continue;
        controller.enqueue(piece.subarray(unsent, at));
        unsent = at;
        await pause;
      }
      line += piece.length - at;
      if (event + line > maxBytes) controller.error(exceeded());
      else if (unsent < piece.length) controller.enqueue(piece.subarray(unsent));
    },
  };
}
