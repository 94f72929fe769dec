// Checks every frame that a host sends to any client in any scenario against the Codex CLI's schemas.
import { expect, inject } from "vitest";
import { type FrameChecker, type FrameKind, peerFrameChecker } from "../conformance/schema-frames.ts";
import { atFileEnd } from "./file-end.ts";

/** One violation per kind of frame: a stream of deltas would repeat the same violation a thousand times. */
const violations = new Map<string, string>();
let check: FrameChecker | null | undefined;
let checked = 0;

/** `methods`: the methods of the requests that a reply may belong to; undefined if no request could be read. */
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
  // The schema of errors does not depend on the method.
  if (frame.error !== undefined) return [{ resultOf: "initialize" }];
  return Array.from(methods ?? [], (resultOf) => ({ resultOf }));
}

function openChecker(): FrameChecker | null {
  const folder = inject("peerSchemas");
  return folder === null ? null : peerFrameChecker(folder);
}

// Registered on import, so that no scenario can forget it.
atFileEnd(() => {
  const found = Object.fromEntries(violations);
  violations.clear();
  expect(found, `of ${checked} frames`).toEqual({});
});
