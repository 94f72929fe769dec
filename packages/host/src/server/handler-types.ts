import type { MethodName, Params, Result } from "@bobbin/protocol";
import type { Encoded } from "@bobbin/rpc";
import type { Connection } from "./connection.ts";

/** A request that is being handled. */
export interface Call<M extends MethodName> {
  readonly connection: Connection;
  /**
   * Sends the reply. Call it exactly once. The reply is sent at once, so that later notifications come after it.
   * Throws if the reply is too large; the handler must not have had any effect by then.
   */
  reply(result: Result<M> | Encoded<Result<M>>): void;
}

/** Handles a method: sends a reply, or throws the error for the client. */
export type Handler<M extends MethodName> = (params: Params<M>, call: Call<M>) => Promise<void> | void;

/** A method without a handler is answered with `methodNotImplemented`. */
export type MethodHandlers = { readonly [M in MethodName]?: Handler<M> };

/** Looks a handler up by method; undefined if there is none. */
export type FindHandler = (method: MethodName) => Handler<never> | undefined;
