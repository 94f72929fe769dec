// The lint rules of our own (scripts/lint-rules.mjs), as `npm run check` applies them.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

const root = join(import.meta.dirname, "..");

/** The lines of a source that the linter reports a rule for. */
async function reported(rule: string, source: string): Promise<readonly number[]> {
  const file = join(await freshFolder(), "sample.test.ts");
  await writeFile(file, source);
  const args = ["-c", join(root, ".oxlintrc.json"), "--format=json", file];
  const output = await new Promise<string>((resolve) => {
    execFile(join(root, "node_modules/.bin/oxlint"), args, (_, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code: string; labels: { span: { line: number } }[] }[];
  };
  return diagnostics.filter(({ code }) => code.includes(rule)).map(({ labels }) => labels[0]!.span.line);
}

describe("bobbin/no-pattern-in-matcher", () => {
  it("refuses a pattern wherever a matcher compares by structure", async () => {
    const bad = [
      "expect(a).toMatchObject({ b: /x/ });",
      "expect(a).toEqual({ b: [{ c: /x/ }] });",
      "expect(a).not.toMatchObject([/x/]);",
      "expect(a).toEqual(expect.objectContaining({ b: /x/ }));",
      "await expect(a).resolves.toMatchObject({ b: c ? /x/ : 1 });",
      'expect(a).toMatchObject({ b: new RegExp("x") });',
    ];
    expect(await reported("no-pattern-in-matcher", bad.join("\n"))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("accepts patterns that compare texts", async () => {
    const good = [
      "expect(a).toMatchObject({ b: expect.stringMatching(/x/) });",
      "expect(a).toMatch(/x/);",
      'expect(a).toEqual(b.replace(/x/, ""));',
      "expect(a).toEqual(b.filter((one) => /x/.test(one)));",
      "expect(() => a()).toThrow(/x/);",
    ];
    expect(await reported("no-pattern-in-matcher", good.join("\n"))).toEqual([]);
  });
});

describe("bobbin/no-wall-clock-wait", () => {
  it("refuses waits of Vitest, whose limits a busy machine exceeds", async () => {
    const bad = [
      "await expect.poll(() => a).toBe(1);",
      "await expect.poll(() => a, { timeout: 60_000 }).toBe(1);",
      "await vi.waitFor(() => expect(a).toBe(1));",
      "await vi.waitUntil(() => a);",
      'await vi["waitFor"](() => a);',
      "const { until = vi.waitUntil } = options;",
    ];
    expect(await reported("no-wall-clock-wait", bad.join("\n"))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("accepts waits of test/support, and methods of other objects with these names", async () => {
    const good = [
      'await eventually(() => a, "a is set");',
      "await eventuallyPasses(() => expect(a).toBe(1));",
      'await page.getByText("a").waitFor();',
      "queue.poll();",
    ];
    expect(await reported("no-wall-clock-wait", good.join("\n"))).toEqual([]);
  });
});
