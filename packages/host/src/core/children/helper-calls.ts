import type { CollabAgentState } from "@bobbin/protocol";
import type { HelperInput, HelperStart } from "./helper-thread-state.ts";

/** What a call about helpers waits for: that a helper's thread is created, or that one of several helpers ends. */
export type Awaited =
  | { readonly kind: "thread"; readonly childId: string }
  | { readonly kind: "ends"; readonly childIds: readonly string[] };

/** An operation of the model on its helpers. */
export type Help =
  /** Starts a helper. `limit`: the limit on open helpers of this thread. */
  | {
      readonly kind: "spawn";
      readonly childId: string;
      readonly nickname: string;
      readonly role: string | null;
      readonly start: HelperStart;
      readonly input: HelperInput;
      readonly limit: number;
    }
  | { readonly kind: "send"; readonly childId: string; readonly input: HelperInput }
  /** Waits for the end of a helper. `until`: the deadline. */
  | { readonly kind: "wait"; readonly childIds: readonly string[]; readonly until: number }
  /** Closes a helper's thread. `previous`: its state before. */
  | { readonly kind: "close"; readonly childId: string; readonly previous: CollabAgentState }
  /** Loads the thread of a closed helper again. */
  | {
      readonly kind: "open";
      readonly childId: string;
      readonly nickname: string;
      readonly role: string | null;
      readonly state: CollabAgentState;
      readonly heard: number;
      readonly limit: number;
    }
  /** Fails because there is no such helper. */
  | { readonly kind: "missing"; readonly childId: string }
  /** Fails because the limit on open helpers is reached. */
  | { readonly kind: "full"; readonly limit: number };
