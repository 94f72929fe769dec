import {
  check,
  type ServerRequestName,
  type ServerRequestParams,
  type ServerRequestResult,
  serverRequests,
} from "@bobbin/protocol";
import type { Ids, Timers } from "../platform/platform.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./incoming-frames.ts";

interface Pending {
  readonly asked: Set<Connection>;
  /** Returns whether the answer is valid. */
  take(result: unknown): boolean;
  fail(why: string): void;
}

/**
 * Server requests that belong to no thread. They are lost when the host ends, or when all clients that were asked
 * disconnect.
 */
export class ThreadlessServerRequests {
  readonly #ids: Ids;
  readonly #timers: Timers;
  readonly #pending = new Map<number, Pending>();

  constructor({ ids, timers }: { readonly ids: Ids; readonly timers: Timers }) {
    this.#ids = ids;
    this.#timers = timers;
  }

  /**
   * Asks all connections. The first answer counts. Rejects if no answer comes in time; the error contains no part of
   * an answer.
   */
  ask<N extends ServerRequestName>(
    connections: readonly Connection[],
    method: N,
    params: ServerRequestParams<N>,
    timeoutMs: number,
  ): Promise<ServerRequestResult<N>> {
    return new Promise((resolve, reject) => {
      if (connections.length === 0) return reject(new Error("no client is connected"));
      const id = this.#ids.integer();
      const over = (settle: () => void): void => {
        if (!this.#pending.delete(id)) return;
        cancel();
        settle();
      };
      const fail = (why: string): void => over(() => reject(new Error(why)));
      const cancel = this.#timers.after(timeoutMs, () => fail(`no answer within ${timeoutMs / 1000} s`));
      this.#pending.set(id, {
        asked: new Set(connections),
        fail,
        take: (result) => {
          const schema = serverRequests[method].result;
          if (check(schema, result, { experimental: true, method }) !== undefined) return false;
          over(() => resolve(result as ServerRequestResult<N>));
          return true;
        },
      });
      for (const connection of connections) connection.ask(id, method, params);
    });
  }

  /** False if this connection was not asked the question. */
  answer(connection: Connection, id: string | number, answer: Answer): boolean {
    const pending = this.#pending.get(Number(id));
    if (pending?.asked.has(connection) !== true) return false;
    if (!("result" in answer)) this.#without(pending, connection, "no client has an answer");
    else if (!pending.take(answer.result))
      this.#without(pending, connection, "the client's answer cannot be read");
    return true;
  }

  left(connection: Connection): void {
    for (const pending of this.#pending.values())
      if (pending.asked.has(connection)) this.#without(pending, connection, "the client has left");
  }

  #without(pending: Pending, connection: Connection, why: string): void {
    pending.asked.delete(connection);
    if (pending.asked.size === 0) pending.fail(why);
  }
}
