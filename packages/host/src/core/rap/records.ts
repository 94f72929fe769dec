import type { FunctionCallOutputBody } from "@bobbin/protocol";

/** What a tool server says that a call came to. */
export interface CallReport {
  readonly output: FunctionCallOutputBody;
  readonly success: boolean;
  /** As clients show it. */
  readonly shown: { readonly content: readonly unknown[]; readonly _meta: unknown };
  /** The call goes on to send events. */
  readonly subscription: boolean;
}
