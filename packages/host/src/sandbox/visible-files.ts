import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { Sandbox } from "./sandbox.ts";

/** What a command of a thread would see, as it was when this was first looked at. */
export interface VisibleFiles {
  readonly files: ReadableFiles;
  /** Whether a file of this real path could be seen. */
  isVisible(path: string): Promise<boolean>;
}

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
): VisibleFiles {
  const program = { argv: ["true"], cwd, env: {}, stdin: "closed" } as const;
  const command = { program, policy, profile: profile ?? null, roots, gitWritable: false };
  let looked: Promise<Access | null> | undefined;
  const isVisible = async (path: string): Promise<boolean> => {
    looked ??= sandbox.access(command);
    const access = await looked;
    return access === null || isShown(path, access);
  };
  return { files: files.within(isVisible), isVisible };
}

function isShown(path: string, { readOnly, readable, writable, hidden }: Access): boolean {
  const all = readOnly === null ? ["/"] : [...readOnly, ...readable, ...writable];
  if (!all.some((one) => isWithin(path, one))) return false;
  const shown = [...readable, ...writable].filter((one) => isWithin(path, one));
  // What is shown inside of a hidden folder stays visible; a hidden folder inside of what is shown does not.
  return hidden.every(
    (folder) => !isWithin(path, folder.path) || shown.some((one) => isWithin(one, folder.path)),
  );
}
