import type { ThreadReadState } from "@bobbin/protocol";
import { ACCOUNT_ERRORS } from "./errors/account-errors.ts";
import { CONFIG_ERRORS } from "./errors/config-errors.ts";
import { CONNECTION_ERRORS } from "./errors/connection-errors.ts";
import { FILE_ERRORS } from "./errors/file-errors.ts";
import { GOAL_ERRORS } from "./errors/goal-errors.ts";
import { MCP_ERRORS } from "./errors/mcp-errors.ts";
import { ACCESS_ERRORS } from "./errors/permission-errors.ts";
import { PROCESS_ERRORS } from "./errors/process-errors.ts";
import { SECTION_ERRORS } from "./errors/section-errors.ts";
import { STORAGE_ERRORS } from "./errors/storage-errors.ts";
import { THREAD_ERRORS } from "./errors/thread-errors.ts";
import { TURN_ERRORS } from "./errors/turn-errors.ts";

/**
 * All errors that a client can receive. The key is the stable `data.code`; `wire` is the JSON-RPC code; `retryable` says
 * whether a retry can succeed. Some texts equal those of the Codex CLI, because clients compare them.
 */
const catalogue = {
  ...CONNECTION_ERRORS,
  ...ACCESS_ERRORS,
  ...ACCOUNT_ERRORS,
  ...CONFIG_ERRORS,
  ...THREAD_ERRORS,
  ...SECTION_ERRORS,
  ...TURN_ERRORS,
  ...GOAL_ERRORS,
  ...PROCESS_ERRORS,
  ...FILE_ERRORS,
  ...MCP_ERRORS,
  ...STORAGE_ERRORS,
} as const;

export type ErrorCode = keyof typeof catalogue;
type Words<C extends ErrorCode> = Parameters<(typeof catalogue)[C]["text"]>;

/** An error whose message is sent to the client. Any other thrown value becomes `internal` with a log reference. */
export class Fault extends Error {
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, text: string, extra?: Record<string, unknown>) {
    super(text);
    this.code = code;
    this.extra = extra;
  }

  toWire(): { code: number; message: string; data: Record<string, unknown> } {
    const { wire, retryable } = catalogue[this.code];
    return { code: wire, message: this.message, data: { code: this.code, retryable, ...this.extra } };
  }
}

export function fault<C extends ErrorCode>(code: C, ...words: Words<C>): Fault {
  const text = catalogue[code].text as (...words: Words<C>) => string;
  return new Fault(code, text(...words));
}

/** The error with additional data, by which clients recognize that they can send the input again after the turn. */
export function notSteerableFault(turnKind: "compact" | "review"): Fault {
  const { code, message } = fault("turnNotSteerable", turnKind);
  return new Fault(code, message, {
    message,
    codexErrorInfo: { activeTurnNotSteerable: { turnKind } },
    additionalDetails: null,
    misalignment: null,
  });
}

/** The error with the current read state, and with a `reason` by which clients recognize it. */
export function readStateConflict(readState: ThreadReadState): Fault {
  const { code, message } = fault("readStateChanged");
  return new Fault(code, message, { reason: "readStateConflict", readState });
}

/** The message of any thrown value. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
