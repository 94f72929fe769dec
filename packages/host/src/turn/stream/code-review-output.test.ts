import { describe, expect, it } from "vitest";
import { codeReviewText } from "./code-review-output.ts";

const finding = (title: string, more: object = {}) => ({
  title,
  body: "Why.",
  code_location: { absolute_file_path: "/a.ts", line_range: { start: 3, end: 4 } },
  ...more,
});
const output = (...findings: object[]) => JSON.stringify({ findings, overall_explanation: " So so. " });

describe("what a reviewer has come to", () => {
  it("is told as its explanation and its findings", () => {
    expect(codeReviewText(output(finding("One"), finding("Two")))).toBe(
      "So so.\n\nFull review comments:\n\n- One — /a.ts:3-4\n  Why.\n\n- Two — /a.ts:3-4\n  Why.",
    );
    expect(codeReviewText(output())).toBe("So so.");
  });

  it("is found between words and in a fence", () => {
    const text = "So so.\n\nReview comment:\n\n- One — /a.ts:3-4\n  Why.";
    expect(codeReviewText(`Here:\n\`\`\`json\n${output(finding("One"))}\n\`\`\``)).toBe(text);
  });

  it("is taken as it is where it is not what was asked for", () => {
    expect(codeReviewText(" Looks good {to me}. ")).toBe("Looks good {to me}.");
    expect(codeReviewText('{"else": 1}')).toBe('{"else": 1}');
    expect(codeReviewText("")).toBe("The reviewer had nothing to say.");
    expect(codeReviewText('{"findings": []}')).toBe("The reviewer had nothing to say.");
    expect(codeReviewText('{"findings": [7, {"title": "T"}]}')).toBe(
      "Full review comments:\n\n- Finding\n\n- T",
    );
  });
});
