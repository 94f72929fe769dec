import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { Sandbox } from "./sandbox.ts";

/** What a command of a thread would see, as it was when this was first looked at. */
export interface VisibleFiles {
  readonly files: ReadableFiles;
  /** Whether a file of this real path could be seen. */
  isVisible(path: string): Promise<boolean>;
  /** Those of some real paths that a profile of people's own keeps from being written; null without such a profile. */
  unwritable(paths: readonly string[]): Promise<readonly string[] | null>;
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
  const look = (): Promise<Access | null> => {
    looked ??= sandbox.access(command);
    return looked;
  };
  const isVisible = async (path: string): Promise<boolean> => {
    const access = await look();
    return access === null || isShown(path, access);
  };
  return {
    files: files.within(isVisible),
    isVisible,
    async unwritable(paths) {
      const access = profile == null || profile.startsWith(":") ? null : await look();
      return access && paths.filter((path) => !isWritable(path, access));
    },
  };
}

/** Of what is writable and what is protected in it, the longer path counts. */
function isWritable(path: string, { writable, protected: kept }: Access): boolean {
  const longest = (folders: readonly string[]): number =>
    Math.max(-1, ...folders.filter((folder) => isWithin(path, folder)).map(({ length }) => length));
  return longest(writable) > longest(kept);
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
