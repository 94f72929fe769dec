// Every frame that a host sends to any client of any scenario is held against the peer's schemas.
import { afterAll, expect, inject } from "vitest";
import { type FrameChecker, peerFrameChecker } from "../conformance/schema-frames.ts";

/** What goes wrong is told once for each kind of frame: a stream of deltas would tell the same a thousand times. */
const violations = new Map<string, string>();
let check: FrameChecker | null | undefined;
let checked = 0;

/** `method` is the request that a reply answers; undefined when the request could not be read as one. */
export function recordFrame(message: unknown, text: string, method: string | undefined): void {
  check ??= openChecker();
  checked++;
  const frame = message as { id?: unknown; method?: string; error?: unknown };
  const isReply = frame.method === undefined;
  if (isReply && method === undefined && frame.error === undefined) {
    violations.set("unasked", `a result that nobody asked for: ${text.slice(0, 300)}`);
    return;
  }
  if (check === null) return;
  const kind = isReply
    ? { resultOf: method ?? "initialize" }
    : frame.id === undefined
      ? "notification"
      : "serverRequest";
  const [problem] = check(frame, kind);
  const what = isReply ? `reply to ${method}` : frame.method!;
  if (problem !== undefined) violations.set(`${what}: ${problem}`, text.slice(0, 500));
}

function openChecker(): FrameChecker | null {
  const folder = inject("peerSchemas");
  return folder === null ? null : peerFrameChecker(folder);
}

// Registered by importing: no scenario can forget it.
afterAll(() => {
  expect(Object.fromEntries(violations), `of ${checked} frames`).toEqual({});
});
