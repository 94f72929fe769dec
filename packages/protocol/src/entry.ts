// How an entry of the table is written. Adding a method is one entry here in methods/, one handler in the
// host, and one scenario.
import type { Schema } from "./schema.ts";

export type Stability = "stable" | "experimental";

/**
 * What a request waits for: `thread` runs one at a time for each params.threadId, `global` one at a time for
 * each key (shared ones beside each other), `none` at once.
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
  /** Not a method of the peer's. */
  readonly ours?: boolean;
}
export interface NotificationEntry<out P = unknown> {
  readonly params: Schema<P>;
  /** Comes from a record, so it can be made again; a live one can not. */
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
