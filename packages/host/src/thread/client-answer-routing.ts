import { check, threadRequests } from "@bobbin/protocol";
import type { PendingRequest, RequestAnswer } from "../core/requests/records.ts";
import type { Clock } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import type { Recipient } from "./subscription.ts";

/** A client's response to a server request. */
export type ClientAnswer = { readonly result: unknown } | { readonly error: unknown };

/** Routes clients' answers to the threads that sent the requests. */
export class ClientAnswerRouting {
  readonly #clock: Clock;
  readonly #byId = new Map<number, Actor>();
  /** The pending requests of each thread after its last change. */
  readonly #byActor = new Map<Actor, readonly PendingRequest[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called after each change of a thread. */
  changed(actor: Actor): void {
    const { requests } = actor;
    const before = this.#byActor.get(actor) ?? [];
    if (requests === before || (requests.length === 0 && before.length === 0)) return;
    for (const { id } of before) this.#byId.delete(id);
    for (const { id } of requests) this.#byId.set(id, actor);
    if (requests.length === 0) this.#byActor.delete(actor);
    else this.#byActor.set(actor, requests);
  }

  /** Called when a thread was unloaded. */
  gone(actor: Actor): void {
    for (const { id } of this.#byActor.get(actor) ?? []) this.#byId.delete(id);
    this.#byActor.delete(actor);
  }

  /** Takes a subscriber's answer. Returns false if the subscriber was not sent such a request. */
  answer(recipient: Recipient, requestId: string | number, answer: ClientAnswer): boolean {
    const actor = this.#byId.get(Number(requestId));
    const request = actor?.requests.find(({ id }) => id === Number(requestId));
    if (actor === undefined || request === undefined || !actor.subscriptions.has(recipient)) return false;
    if ("result" in answer) {
      this.#submit(actor, request.id, read(request, answer.result));
    } else if (actor.subscriptions.refused(recipient, request.id)) {
      // A request fails only if all subscribers have refused it.
      this.#submit(actor, request.id, { kind: "failed", message: messageOf(answer.error) });
    }
    return true;
  }

  /** A subscriber has left. A request fails if all remaining subscribers have refused it. */
  left(actor: Actor): void {
    for (const { id } of actor.requests) {
      if (!actor.subscriptions.allRefused(id)) continue;
      this.#submit(actor, id, { kind: "failed", message: "no client that is connected can answer" });
    }
  }

  #submit(actor: Actor, requestId: number, answer: RequestAnswer): void {
    actor.offer({ kind: "answer", at: this.#clock.now(), requestId, answer });
  }
}

function read({ method }: PendingRequest, result: unknown): RequestAnswer {
  const violation = check(threadRequests[method].result, result, { experimental: true, method });
  if (violation === undefined) return { kind: "result", result };
  const where =
    violation.kind === "experimental" ? violation.name : `${violation.path}: ${violation.message}`;
  return { kind: "failed", message: `the client's answer cannot be read (${where})` };
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" ? message.slice(0, 1000) : "the client refused";
}
