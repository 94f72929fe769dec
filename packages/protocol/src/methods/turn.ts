import { method, THREAD } from "../table-entry.ts";
import { ReviewStartParams, ReviewStartResponse } from "../types/review.ts";
import {
  TurnInterruptParams,
  TurnInterruptResponse,
  TurnSettingsUpdateParams,
  TurnSettingsUpdateResponse,
  TurnStartParams,
  TurnStartResponse,
  TurnSteerParams,
  TurnSteerResponse,
} from "../types/turn.ts";

export const turnMethods = {
  "turn/start": method({
    params: TurnStartParams,
    result: TurnStartResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "turn/steer": method({
    params: TurnSteerParams,
    result: TurnSteerResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "turn/interrupt": method({
    params: TurnInterruptParams,
    result: TurnInterruptResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "turn/settings/update": method({
    params: TurnSettingsUpdateParams,
    result: TurnSettingsUpdateResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "review/start": method({
    params: ReviewStartParams,
    result: ReviewStartResponse,
    scope: THREAD,
    stability: "stable",
  }),
};
