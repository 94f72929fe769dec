import { inline, nullable } from "@bobbin/protocol/schema";
import { ThreadUnreadPosition } from "@bobbin/protocol/types";
import { count, time } from "../number-schemas.ts";

export const readState = () => ({
  at: time(),
  change: count(),
  firstUnread: nullable(ThreadUnreadPosition),
});

export const READ_STATE = inline(readState);
