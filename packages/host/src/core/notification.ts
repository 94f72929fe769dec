import type { NotificationName, NotificationParams } from "@bobbin/protocol";

/** A durable notification: made from a record alone, so that live fan-out and replay send the same. */
export type Notification = {
  readonly [N in NotificationName]: {
    readonly method: N;
    readonly params: NotificationParams<N>;
    readonly audience: Audience;
  };
}[NotificationName];

/** `everyone`: each initialized connection that may see the thread; else only those that follow it. */
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

/** The `notify` of records that clients are not sent. */
export function silent(): readonly Notification[] {
  return NONE;
}
