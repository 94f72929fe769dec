import type { Connection } from "../connection.ts";

/** Policies of older clients that no longer exist. */
const OUTDATED: ReadonlySet<unknown> = new Set(["on-failure", "onFailure"]);

/** Connections whose client was warned. */
const warned = new WeakSet<Connection>();

/**
 * Whether a request names an outdated approval policy and its client was not warned yet. Call this before parsing the
 * parameters, because parsing replaces the policy.
 */
export function namesOutdatedPolicy(connection: Connection, params: unknown): boolean {
  const { approvalPolicy } = (params ?? {}) as { readonly approvalPolicy?: unknown };
  return OUTDATED.has(approvalPolicy) && !warned.has(connection);
}

export function warnOfOutdatedPolicy(connection: Connection): void {
  warned.add(connection);
  const message =
    'The approval policy "on-failure" is taken as "on-request": the model asks before it leaves the sandbox.';
  connection.notify("warning", { threadId: null, message });
}
