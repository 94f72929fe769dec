import { expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

it("shows characters that are invisible or move others, and keeps lines", () => {
  expect(visibleText("rm ä 👍\n\tx")).toBe("rm ä 👍\n\tx");
  expect(visibleText("a\rb\u001b\u202ec\u00a0\u200b\u2028\u{e0041}")).toBe(
    "a␍b␛<U+202E>c<U+00A0><U+200B><U+2028><U+E0041>",
  );
});
