// Every frame that a host sends to any client of any scenario is held against the peer's schemas.
import { afterAll, expect, inject } from "vitest";
import { type FrameChecker, type FrameKind, peerFrameChecker } from "../conformance/schema-frames.ts";

/** What goes wrong is told once for each kind of frame: a stream of deltas would tell the same a thousand times. */
const violations = new Map<string, string>();
let check: FrameChecker | null | undefined;
let checked = 0;

/** `methods` are the requests that a reply may answer; undefined when none could be read. */
export function recordFrame(message: object, text: string, methods: ReadonlySet<string> | undefined): void {
  check ??= openChecker();
  checked++;
  const frame = message as { id?: unknown; method?: string; error?: unknown };
  const isReply = frame.method === undefined;
  if (isReply && methods === undefined && frame.error === undefined) {
    violations.set("unasked", `a result that nobody asked for: ${text.slice(0, 300)}`);
    return;
  }
  if (check === null) return;
  let problem: string | undefined;
  for (const kind of kindsOf(frame, methods)) {
    [problem] = check(frame, kind);
    if (problem === undefined) return;
  }
  const what = isReply ? `reply to ${[...(methods ?? [])].join(" or ")}` : frame.method!;
  violations.set(`${what}: ${problem}`, text.slice(0, 500));
}

function kindsOf(
  frame: { id?: unknown; method?: string; error?: unknown },
  methods: ReadonlySet<string> | undefined,
): Iterable<FrameKind> {
  if (frame.method !== undefined) return [frame.id === undefined ? "notification" : "serverRequest"];
  // Errors are the same whatever was asked.
  if (frame.error !== undefined) return [{ resultOf: "initialize" }];
  return Array.from(methods ?? [], (resultOf) => ({ resultOf }));
}

function openChecker(): FrameChecker | null {
  const folder = inject("peerSchemas");
  return folder === null ? null : peerFrameChecker(folder);
}

// Registered by importing: no scenario can forget it.
afterAll(() => {
  expect(Object.fromEntries(violations), `of ${checked} frames`).toEqual({});
});
