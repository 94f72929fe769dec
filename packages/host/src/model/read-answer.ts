import type { HttpAnswer } from "../platform/platform.ts";
import type { Loose } from "./loose-json.ts";
import type { ModelEvent, ModelStream } from "./model.ts";
import { type Call, type ModelPorts, postStream } from "./provider-requests.ts";

/**
 * Translates the server's events of one answer into `ModelEvent`s. An error is thrown after the events that precede
 * it were yielded.
 */
export interface AnswerReader {
  take(event: Loose): Iterable<ModelEvent>;
  /** Reads events from the response headers. */
  headersReceived?(headers: HttpAnswer["headers"]): Iterable<ModelEvent>;
  /** Called when the stream ended without an event that ends the answer. */
  end(): Iterable<ModelEvent>;
}

/**
 * Streams one answer through its reader. Server events that arrive in one chunk are read together and yielded as one
 * batch.
 */
export async function* readAnswer(
  ports: ModelPorts,
  call: Call,
  answer: AnswerReader,
  signal: AbortSignal,
): ModelStream {
  let fromHeaders: readonly ModelEvent[] = [];
  const onHeaders = (headers: HttpAnswer["headers"]): void => {
    fromHeaders = [...(answer.headersReceived?.(headers) ?? [])];
  };
  try {
    for await (const events of postStream(ports, { ...call, onHeaders }, signal)) {
      if (fromHeaders.length > 0) yield fromHeaders;
      fromHeaders = [];
      const read = readAll(events, (event) => answer.take(event));
      if (read.modelEvents.length > 0) yield read.modelEvents;
      if (read.failure !== undefined) throw read.failure;
      if (read.modelEvents.at(-1)?.type === "done") return;
    }
  } catch (cause) {
    // Rate limits in the headers are also reported if the request was refused.
    if (fromHeaders.length > 0 && !signal.aborted) yield fromHeaders;
    throw cause;
  }
  const { modelEvents, failure } = readAll([undefined], () => answer.end());
  if (modelEvents.length > 0) yield modelEvents;
  if (failure !== undefined) throw failure;
}

function readAll<T>(
  events: readonly T[],
  read: (event: T) => Iterable<ModelEvent>,
): { readonly modelEvents: readonly ModelEvent[]; readonly failure?: unknown } {
  const modelEvents: ModelEvent[] = [];
  try {
    for (const event of events) for (const one of read(event)) modelEvents.push(one);
    return { modelEvents };
  } catch (failure) {
    return { modelEvents, failure };
  }
}
