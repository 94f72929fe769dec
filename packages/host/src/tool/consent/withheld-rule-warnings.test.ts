import { describe, expect, it } from "vitest";
import { WithheldRuleWarnings } from "./withheld-rule-warnings.ts";

describe("rules that do not count", () => {
  const project = {
    root: '/a "b"',
    digest: "sha256:1",
    isTrusted: false,
    isWithheld: true,
    level: null,
    problem: null,
  } as const;

  it("[TRUST-2] are warned of once for each content, with the command and the key", () => {
    const warned: string[] = [];
    const warnings = new WithheldRuleWarnings((_thread, message) => warned.push(message) > 0);
    warnings.warn("t", project);
    warnings.warn("t", project);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain("are not trusted");
    expect(warned[0]).toContain('`bobbin rules trust /a "b"`');
    expect(warned[0]).toContain('projects."/a \\"b\\"".trusted_rules');
    warnings.warn("t", { ...project, digest: "sha256:2", level: "trusted" });
    warnings.warn("u", project);
    expect(warned).toHaveLength(3);
    expect(warned[1]).toContain("are not those that were trusted");
  });

  it("are not warned of where nothing is withheld, or the project is not trusted on purpose", () => {
    const warnings = new WithheldRuleWarnings(() => {
      throw new Error("warned");
    });
    warnings.warn("t", { ...project, isWithheld: false });
    warnings.warn("t", { ...project, level: "untrusted" });
  });

  it("are warned of later if nobody was there", () => {
    let there = false;
    let count = 0;
    const warnings = new WithheldRuleWarnings(() => {
      count += 1;
      return there;
    });
    warnings.warn("t", project);
    there = true;
    warnings.warn("t", project);
    warnings.warn("t", project);
    expect(count).toBe(2);
  });
});
