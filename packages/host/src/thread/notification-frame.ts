import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import { type Encoded, Frame, jsonOf } from "@bobbin/rpc";

/** Encodes a notification, with the time of sending that every notification contains. */
export function notificationFrame<N extends NotificationName>(
  method: N,
  params: NotificationParams<N> | Encoded<NotificationParams<N>>,
  emittedAtMs: number,
): Frame {
  return new Frame(`{"method":"${method}","params":${jsonOf(params)},"emittedAtMs":${emittedAtMs}}`);
}
