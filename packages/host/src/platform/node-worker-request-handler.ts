import { parentPort } from "node:worker_threads";
import type { Failure, Question, Reply } from "./node-worker.ts";

/** Runs inside a worker thread: answers the requests of a `NodeWorker` one after the other. */
export function answerWorkerRequests(answer: (message: unknown) => unknown): void {
  const port = parentPort!;
  port.on("message", ({ id, message }: Question) => {
    let reply: Reply;
    try {
      reply = { id, answer: answer(message) };
    } catch (cause) {
      const { message: why, code, errcode } = cause as Failure;
      reply = { id, failure: { message: why, code, errcode } };
    }
    port.postMessage(reply);
  });
}
