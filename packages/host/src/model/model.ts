import type { LoadSettings, Model, ThreadItem, TokenUsageBreakdown, TurnError } from "@bobbin/protocol";
import type { ProjectDoc, ThreadSettings } from "../core/life/records.ts";

/** The provider that is built in, and its only model: what everyone has who configured nothing. */
export const OFFLINE_MODEL = "offline";

/** One kind of model provider. Adapters are small: bytes of a wire in, these events out. */
export interface ModelProvider {
  readonly id: string;
  models(): Promise<readonly Model[]>;
  /** Ends with `done` or `failed`, or by throwing when `signal` aborts. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  readonly settings: ThreadSettings;
  /** Bound when the thread was loaded. */
  readonly load: LoadSettings;
  readonly docs: readonly ProjectDoc[];
  /** The conversation so far, the new user message last. */
  readonly items: readonly ThreadItem[];
  readonly outputSchema: unknown;
}

export type ModelEvent =
  | { readonly type: "messageStarted"; readonly itemId: string }
  | { readonly type: "messageDelta"; readonly itemId: string; readonly text: string }
  | { readonly type: "messageDone"; readonly itemId: string; readonly text: string }
  | { readonly type: "done"; readonly usage: TokenUsageBreakdown; readonly contextWindow: number | null }
  | { readonly type: "failed"; readonly error: TurnError };
