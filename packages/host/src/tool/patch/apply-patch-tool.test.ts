import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { patchToolSource } from "./apply-patch-tool.ts";

/** The form in which `apply_patch` is offered to a model. */
function formFor(model: string): string | undefined {
  // No port is used.
  const source = patchToolSource({} as never);
  const thread = newThread();
  const [tool] = source.tools({ ...thread, settings: { ...thread.settings, model } });
  return tool!.spec?.kind;
}

describe("the tool apply_patch", () => {
  it.each(["gpt-5", "gpt-5.4-mini", "gpt-5.1-codex-max", "codex-mini-latest", "codex-auto-review"])(
    "[PATCH-1] is freeform for %s, which was trained with it",
    (model) => expect(formFor(model)).toBe("custom"),
  );

  it.each(["gpt-4.1", "gpt-oss-120b", "claude-sonnet-4-5", "qwen3-coder", "my-gpt-5", "mock-model", ""])(
    "[PATCH-1] is a function for any other model: %j",
    (model) => expect(formFor(model)).toBe("function"),
  );
});
