import type { CallReport, RapEvent, View } from "./records.ts";

/** Messages of tool servers about calls, and their consequences. `load`: the load of the thread that made the call. */
export type RapCommand =
  /** The result of a call. `eventId`: the ID of the event with the result, if the call was deferred. */
  | {
      readonly kind: "reportCall";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly report: CallReport;
      readonly eventId: string;
    }
  /**
   * An event of a subscription. `key`: the sender's name for the event; `digest`: the digest of its bytes. A repeated
   * event has no effect.
   */
  | {
      readonly kind: "receiveEvent";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly key: string | null;
      readonly digest: string;
      readonly eventId: string;
      readonly event: Pick<RapEvent, "output" | "success" | "shown">;
      /** The ID of the child thread that handles the event; null if the thread itself does. */
      readonly childId: string | null;
      readonly final: boolean;
    }
  | {
      readonly kind: "updateView";
      readonly at: number;
      readonly load: number;
      readonly server: string;
      readonly callId: string;
      readonly viewType: string;
      readonly view: View["content"];
    }
  /** A tool server asks the user to choose, while its call waits. */
  | {
      readonly kind: "askChoice";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly requestId: number;
      readonly server: string;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly fallback: number;
      readonly responseUrl: string;
      /** Identifies the question, so that a repeated question is recognized. `named`: the sender chose the key. */
      readonly key: string;
      readonly named: boolean;
    }
  /** A tool server asks the user for an authorization. The URL is stored outside of the journal. */
  | {
      readonly kind: "askOAuth";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly requestId: number;
    }
  /** The choice was posted to the tool server, or posting was given up. */
  | { readonly kind: "choicePosted"; readonly at: number; readonly requestId: number }
  /** The tool server could not be reached. The next attempt to post the choice is at `until`. */
  | {
      readonly kind: "choiceDelayed";
      readonly at: number;
      readonly requestId: number;
      readonly until: number;
    }
  /** A deferred call has reached its deadline. */
  | {
      readonly kind: "expireCall";
      readonly at: number;
      readonly callId: string;
      readonly eventId: string;
    }
  /** Changes nothing. The caller only reads the state. */
  | { readonly kind: "lookUp"; readonly at: number }
  /** The host starts a turn because events wait for the model. */
  | { readonly kind: "startEvents"; readonly at: number; readonly turnId: string };
