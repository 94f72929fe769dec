import type { FunctionCallOutputBody } from "@bobbin/protocol";
import type { Blobs } from "../turn/blobs.ts";

/** Records about tool servers, besides those of calls in the running turn. */
export type RapRecord =
  /** A call has started a subscription: its server sends events. */
  | {
      readonly type: "subscribed";
      readonly turnId: string;
      readonly at: number;
      readonly subscription: OutsideCall;
    }
  | {
      readonly type: "subscriptionEnded";
      readonly at: number;
      readonly callId: string;
      readonly by: "final" | "cancelled";
    }
  /** A call was deferred: the model got an interim output, and the result will arrive as an event. */
  | {
      readonly type: "callDeferred";
      readonly turnId: string;
      readonly at: number;
      readonly call: LateCall;
    }
  /**
   * An event has arrived, and waits for the next model call. `key`: the event's name, by which a repeat is
   * recognized.
   */
  | {
      readonly type: "eventReceived";
      readonly at: number;
      readonly event: RapEvent;
      readonly key: string | null;
    }
  /** The event becomes part of the model's history. */
  | {
      readonly type: "eventInjected";
      readonly turnId: string;
      readonly at: number;
      readonly event: RapEvent;
    }
  /** A note for the model about a call. Clients are not sent it. */
  | { readonly type: "callNoted"; readonly turnId: string; readonly at: number; readonly text: string }
  /** The user has chosen. The choice has to be posted to the tool server. */
  | { readonly type: "choiceMade"; readonly at: number; readonly choice: MadeChoice }
  /** The tool server could not be reached. The next attempt to post the choice is at `until`. */
  | {
      readonly type: "choiceDelayed";
      readonly at: number;
      readonly requestId: number;
      readonly until: number;
    }
  /** The choice was posted, or the host has stopped trying. */
  | { readonly type: "choicePosted"; readonly at: number; readonly requestId: number }
  /**
   * The notice about a cancelled call or subscription was handed to the notice sender. The notice is sent at most
   * once: neither a failure nor a crash repeats it.
   */
  | { readonly type: "cancelNotified"; readonly at: number; readonly callId: string }
  /** The new content of a view. Empty content removes the view. */
  | {
      readonly type: "viewUpdated";
      readonly at: number;
      readonly server: string;
      readonly callId: string;
      readonly viewType: string;
      readonly view: View["content"];
    };

/** The result of a call, reported by a tool server. */
export interface CallReport {
  readonly output: FunctionCallOutputBody;
  readonly success: boolean;
  /** The content for clients. */
  readonly shown: ShownContent;
  /** The blobs that `output` and `shown` refer to. */
  readonly blobs?: Blobs | undefined;
  /** Whether the call has started a subscription. */
  readonly subscription: boolean;
}

export interface ShownContent {
  readonly content: readonly unknown[];
  readonly _meta: unknown;
}

/** A call that a tool server still works on. */
export interface OutsideCall {
  readonly callId: string;
  /** The name of the toolset. */
  readonly server: string;
  /** The name of the tool server in the configuration. */
  readonly via: string;
  readonly tool: string;
  /** The arguments as the model wrote them. */
  readonly args: string;
}

/** A deferred call: the model continues without its result. */
export interface LateCall extends OutsideCall {
  readonly turnId: string;
  readonly until: number | null;
  /** The server has not acknowledged the call. */
  readonly unacknowledged?: boolean | undefined;
}

/** An event for the model. The model sees it as a tool call that the model did not make. */
export interface RapEvent {
  /** The ID of the tool call by which the model sees the event. */
  readonly id: string;
  /** An event of a subscription, or the result of a deferred call. */
  readonly kind: "event" | "result";
  readonly call: OutsideCall;
  readonly output: FunctionCallOutputBody;
  readonly success: boolean;
  readonly shown: ShownContent;
  readonly blobs?: Blobs | undefined;
}

export interface MadeChoice {
  readonly requestId: number;
  readonly callId: string;
  /** The tool server's name in the configuration. */
  readonly server: string;
  readonly responseUrl: string;
  readonly selected: number;
  readonly key?: string | undefined;
}

/** A choice that was not posted to its tool server yet. */
export interface DueChoice extends MadeChoice {
  /** The number of failed attempts, and the time of the next one. */
  readonly delays?: number;
  readonly until?: number;
}

export interface View {
  readonly type: string;
  readonly server: string;
  readonly callId: string;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface RapState {
  readonly subscriptions: readonly OutsideCall[];
  /** Deferred calls that have not ended. */
  readonly late: readonly LateCall[];
  /** Events that wait for the next model call. */
  readonly events: readonly RapEvent[];
  /** Choices that were not posted to their tool servers yet. */
  readonly choices: readonly DueChoice[];
  readonly views: readonly View[];
  /** The names of the last events and choices, by which repeats are recognized. */
  readonly keys: readonly string[];
  /** Cancelled calls and subscriptions that tool servers have to be notified of; missing if there are none. */
  readonly cancels?: readonly string[] | undefined;
}

export const NO_RAP: RapState = {
  subscriptions: [],
  late: [],
  events: [],
  choices: [],
  views: [],
  keys: [],
};
