import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { isWithin } from "./access.ts";
import type { Sandbox } from "./sandbox.ts";

/** The files that a command of a thread would see: tools that read for a model see no others. */
export function visibleFiles(
  sandbox: Pick<Sandbox, "access">,
  files: Pick<Files, "within">,
  {
    policy,
    profile,
    roots,
    cwd,
  }: {
    readonly policy: SandboxPolicy;
    readonly profile?: string | null;
    readonly roots: readonly string[];
    readonly cwd: string;
  },
): ReadableFiles {
  const program = { argv: ["true"], cwd, env: {}, stdin: "closed" } as const;
  return files.within(async (path) => {
    const access = await sandbox.access({
      program,
      policy,
      profile: profile ?? null,
      roots,
      gitWritable: false,
    });
    if (access === null) return true;
    const all =
      access.readOnly === null ? ["/"] : [...access.readOnly, ...access.readable, ...access.writable];
    if (!all.some((one) => isWithin(path, one))) return false;
    const shown = [...access.readable, ...access.writable].filter((one) => isWithin(path, one));
    // What is shown inside of a hidden folder stays visible; a hidden folder inside of what is shown does not.
    return access.hidden.every(
      (hidden) => !isWithin(path, hidden.path) || shown.some((one) => isWithin(one, hidden.path)),
    );
  });
}
