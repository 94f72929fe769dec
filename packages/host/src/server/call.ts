import type { MethodName, Params, Result } from "@bobbin/protocol";
import type { Encoded } from "@bobbin/rpc";
import type { Connection } from "./connection.ts";

/** One request under way. */
export interface Call<M extends MethodName> {
  readonly connection: Connection;
  /**
   * Exactly once. Sent at once: what is told after it comes after it on the wire. Throws if it would be too large, so
   * that nothing follows from a request that is refused.
   */
  reply(result: Result<M> | Encoded<Result<M>>): void;
}

/** Serves a method: replies, or throws what the client is told instead. */
export type Handler<M extends MethodName> = (params: Params<M>, call: Call<M>) => Promise<void> | void;

/** A method of the table that is not here answers that it is not served yet. */
export type Handlers = { readonly [M in MethodName]?: Handler<M> };

/** By name, one of the table; undefined if it is not served yet. */
export type FindHandler = (method: MethodName) => Handler<never> | undefined;
