import type { HttpAnswer } from "../platform/platform.ts";
import { type Call, type ModelPorts, postStream } from "./http.ts";
import type { Loose } from "./loose.ts";
import type { ModelEvent, ModelStream } from "./model.ts";

/** One answer on one wire: the server's events in, ours out. What is wrong is thrown, behind what came before it. */
export interface AnswerReader {
  take(event: Loose): Iterable<ModelEvent>;
  /** What the headers say besides. */
  headed?(headers: HttpAnswer["headers"]): Iterable<ModelEvent>;
  /** The stream is over, and nothing in it has ended the answer. */
  end(): Iterable<ModelEvent>;
}

/** What a server sends in one piece is read in one go: an answer of many small events waits for nothing in between. */
export async function* readAnswer(
  ports: ModelPorts,
  call: Call,
  answer: AnswerReader,
  signal: AbortSignal,
): ModelStream {
  let aside: readonly ModelEvent[] = [];
  const heard = (headers: HttpAnswer["headers"]): void => {
    aside = [...(answer.headed?.(headers) ?? [])];
  };
  try {
    for await (const events of postStream(ports, { ...call, heard }, signal)) {
      if (aside.length > 0) yield aside;
      aside = [];
      const read = readAll(events, (event) => answer.take(event));
      if (read.said.length > 0) yield read.said;
      if (read.failure !== undefined) throw read.failure;
      if (read.said.at(-1)?.type === "done") return;
    }
  } catch (cause) {
    // What a refusal says about limits is worth as much.
    if (aside.length > 0 && !signal.aborted) yield aside;
    throw cause;
  }
  const { said, failure } = readAll([undefined], () => answer.end());
  if (said.length > 0) yield said;
  if (failure !== undefined) throw failure;
}

function readAll<T>(
  events: readonly T[],
  read: (event: T) => Iterable<ModelEvent>,
): { readonly said: readonly ModelEvent[]; readonly failure?: unknown } {
  const said: ModelEvent[] = [];
  try {
    for (const event of events) for (const one of read(event)) said.push(one);
    return { said };
  } catch (failure) {
    return { said, failure };
  }
}
