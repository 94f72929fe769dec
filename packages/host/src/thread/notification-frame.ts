import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import { type Encoded, Frame, jsonOf } from "@bobbin/rpc";

/** A notification as it goes out; every one says when it was sent. */
export function notificationFrame<N extends NotificationName>(
  method: N,
  params: NotificationParams<N> | Encoded<NotificationParams<N>>,
  emittedAtMs: number,
): Frame {
  return new Frame(`{"method":"${method}","params":${jsonOf(params)},"emittedAtMs":${emittedAtMs}}`);
}
