import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";

/** A notification as it goes out; every one says when it was sent. */
export function notificationFrame<N extends NotificationName>(
  method: N,
  params: NotificationParams<N>,
  emittedAtMs: number,
): Frame {
  return Frame.of({ method, params, emittedAtMs });
}
