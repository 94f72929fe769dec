import type { FunctionCallOutputBody } from "@bobbin/protocol";

/** What comes of tool servers, beside the answers of calls. */
export type RapRecord =
  /** A call has begun to send events. */
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
  /** The model was told that the call is still running; what it comes to arrives as an event. */
  | {
      readonly type: "callDeferred";
      readonly turnId: string;
      readonly at: number;
      readonly call: LateCall;
    }
  /** Something has come for the model; it waits until the model can be shown it. `key`: the sender's name for it. */
  | {
      readonly type: "eventReceived";
      readonly at: number;
      readonly event: RapEvent;
      readonly key: string | null;
    }
  /** From here on the model sees it. */
  | {
      readonly type: "eventInjected";
      readonly turnId: string;
      readonly at: number;
      readonly event: RapEvent;
    }
  /** Something for the model to know about a call; nobody else is shown it. */
  | { readonly type: "callNoted"; readonly turnId: string; readonly at: number; readonly text: string }
  /** The user has chosen; whoever asked is to be told. */
  | { readonly type: "choiceMade"; readonly at: number; readonly choice: MadeChoice }
  /** They are not there now, and are tried again then. */
  | {
      readonly type: "choiceDelayed";
      readonly at: number;
      readonly requestId: number;
      readonly until: number;
    }
  /** They were, or can not be. */
  | { readonly type: "choicePosted"; readonly at: number; readonly requestId: number }
  /** The last content that a view has; an empty one clears it. */
  | {
      readonly type: "viewUpdated";
      readonly at: number;
      readonly server: string;
      readonly callId: string;
      readonly viewType: string;
      readonly view: View["content"];
    };

/** What a tool server says that a call came to. */
export interface CallReport {
  readonly output: FunctionCallOutputBody;
  readonly success: boolean;
  /** As clients show it. */
  readonly shown: ShownContent;
  /** The call goes on to send events. */
  readonly subscription: boolean;
}

export interface ShownContent {
  readonly content: readonly unknown[];
  readonly _meta: unknown;
}

/** A call that somebody outside still has. */
export interface OutsideCall {
  readonly callId: string;
  /** The toolset's name. */
  readonly server: string;
  /** The tool server's, as it is configured. */
  readonly via: string;
  readonly tool: string;
  /** As the model wrote them. */
  readonly args: string;
}

export interface LateCall extends OutsideCall {
  readonly turnId: string;
  readonly until: number | null;
  /** It is not known whether its server has it. */
  readonly unacknowledged?: boolean | undefined;
}

/** What the model is shown as a call that it did not make. */
export interface RapEvent {
  /** The name of that call. */
  readonly id: string;
  /** An event of a subscription, or the late result of a call. */
  readonly kind: "event" | "result";
  readonly call: OutsideCall;
  readonly output: FunctionCallOutputBody;
  readonly success: boolean;
  readonly shown: ShownContent;
}

export interface MadeChoice {
  readonly requestId: number;
  readonly callId: string;
  /** As the configuration names it. */
  readonly server: string;
  readonly responseUrl: string;
  readonly selected: number;
  readonly key?: string | undefined;
}

/** A choice on its way. */
export interface DueChoice extends MadeChoice {
  /** How often it was put off, and until when. */
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
  /** Calls that the model does not wait for any more, and that have not ended. */
  readonly late: readonly LateCall[];
  /** What the model is to be shown as soon as that can be. */
  readonly events: readonly RapEvent[];
  /** Choices that whoever asked is to be told. */
  readonly choices: readonly DueChoice[];
  readonly views: readonly View[];
  /** What senders called the last things that had their effect. */
  readonly keys: readonly string[];
}

export const NO_RAP: RapState = {
  subscriptions: [],
  late: [],
  events: [],
  choices: [],
  views: [],
  keys: [],
};
