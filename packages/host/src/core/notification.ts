import type { NotificationName, NotificationParams } from "@bobbin/protocol";

/**
 * A durable notification. It is computed from one record alone, so that subscribers and a later replay get the same
 * notification.
 */
export type Notification = {
  readonly [N in NotificationName]: {
    readonly method: N;
    readonly params: NotificationParams<N>;
    readonly audience: Audience;
  };
}[NotificationName];

/**
 * `everyone`: each initialized connection that may see the thread. `subscribers`: connections that are subscribed to
 * the thread.
 */
export type Audience = "everyone" | "subscribers";

export function toEveryone<N extends NotificationName>(
  method: N,
  params: NotificationParams<N>,
): Notification {
  return { method, params, audience: "everyone" } as Notification;
}

export function toSubscribers<N extends NotificationName>(
  method: N,
  params: NotificationParams<N>,
): Notification {
  return { method, params, audience: "subscribers" } as Notification;
}

const NONE: readonly never[] = [];

/** The `notify` of records that cause no notification. */
export function silent(): readonly Notification[] {
  return NONE;
}
