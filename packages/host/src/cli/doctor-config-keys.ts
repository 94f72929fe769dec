import { KeyWarningCheck } from "../config/key-warning-check.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import type { Files } from "../platform/platform.ts";
import type { Verdict } from "./doctor-check-runner.ts";

/** Checks whether the configuration has unknown keys. */
export async function keysFinding(
  files: Files,
  home: string,
  overrides: readonly string[],
): Promise<Verdict> {
  const layers = new LayeredConfig(files, home, overrides);
  const warnings = await new KeyWarningCheck(layers, overrides).read();
  const [first, ...others] = warnings.map(({ message }) => message);
  if (first === undefined) return { works: true, found: "all known" };
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return {
    works: false,
    found: `${first}${more}`,
    advice: "Correct it; bobbin config check lists all of them.",
  };
}
