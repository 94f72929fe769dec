// The types of the protocol table's entries. A new method needs one entry in methods/, one handler in the host and one
// scenario test.
import type { Schema } from "./schema-language.ts";

export type Stability = "stable" | "experimental";

/**
 * The queue in which a request waits for its turn. `thread`: one request at a time per `params.threadId`. `global`: one
 * at a time per `key`, where requests with `shared` may run concurrently. `none`: requests start at once.
 */
export type Scope =
  | { readonly by: "none" }
  | { readonly by: "thread" }
  | { readonly by: "global"; readonly key: string; readonly shared: boolean };

export const NONE: Scope = { by: "none" };
export const THREAD: Scope = { by: "thread" };
export const global = (key: string): Scope => ({ by: "global", key, shared: false });
export const sharedGlobal = (key: string): Scope => ({ by: "global", key, shared: true });

export interface MethodEntry<out P = unknown, out R = unknown> {
  readonly params: Schema<P>;
  readonly result: Schema<R>;
  readonly scope: Scope;
  readonly stability: Stability;
  /** True for a method that the Codex CLI does not have. */
  readonly ours?: boolean;
}
export interface NotificationEntry<out P = unknown> {
  readonly params: Schema<P>;
  /** True if the notification is derived from journal records, so that it can be sent again. False for live ones. */
  readonly durable: boolean;
  readonly stability: Stability;
  readonly ours?: boolean;
}
export interface ServerRequestEntry<out P = unknown, out R = unknown> {
  readonly params: Schema<P>;
  readonly result: Schema<R>;
}

export const method = <P, R>(entry: MethodEntry<P, R>): MethodEntry<P, R> => entry;
export const serverRequest = <P, R>(entry: ServerRequestEntry<P, R>): ServerRequestEntry<P, R> => entry;

type Marks = { stability?: Stability; ours?: boolean };
export const durable = <P>(params: Schema<P>, marks: Marks = {}): NotificationEntry<P> => ({
  params,
  durable: true,
  stability: "stable",
  ...marks,
});
export const live = <P>(params: Schema<P>, marks: Marks = {}): NotificationEntry<P> => ({
  params,
  durable: false,
  stability: "stable",
  ...marks,
});
