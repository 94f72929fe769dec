import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { Sandbox } from "./sandbox.ts";

/** The files that a thread's command could see, determined at the first use. */
export interface VisibleFiles {
  readonly files: ReadableFiles;
  /** Whether a command could see the file at this real path. */
  isVisible(path: string): Promise<boolean>;
  /** The given real paths that a user-defined profile keeps from being written; null without such a profile. */
  unwritable(paths: readonly string[]): Promise<readonly string[] | null>;
  /** Those of the given real paths in writable folders that commands can only read, such as hooks of git. */
  guarded(paths: readonly string[]): Promise<readonly string[]>;
}

/** Restricts tools that read files for a model to the files that a command of the thread could see. */
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
  const command = { program, policy, profile: profile ?? null, roots, project: cwd, gitWritable: false };
  let accessPromise: Promise<Access | null> | undefined;
  const loadAccess = (): Promise<Access | null> => {
    accessPromise ??= sandbox.access(command);
    return accessPromise;
  };
  const isVisible = async (path: string): Promise<boolean> => {
    const access = await loadAccess();
    return access === null || isReadable(path, access);
  };
  return {
    files: files.within(isVisible),
    isVisible,
    async unwritable(paths) {
      const access = profile == null || profile.startsWith(":") ? null : await loadAccess();
      return access && paths.filter((path) => !isWritable(path, access));
    },
    async guarded(paths) {
      const access = await loadAccess();
      if (access === null) return [];
      const isInside = (path: string): boolean => access.writable.some((root) => isWithin(path, root));
      return paths.filter((path) => isInside(path) && !isWritable(path, access));
    },
  };
}

/** Whether a path may be written. Of the writable and protected paths that contain it, the longest one counts. */
function isWritable(path: string, { writable, protected: protectedPaths }: Access): boolean {
  const longest = (folders: readonly string[]): number =>
    Math.max(-1, ...folders.filter((folder) => isWithin(path, folder)).map(({ length }) => length));
  return longest(writable) > longest(protectedPaths);
}

function isReadable(path: string, { readOnly, readable, writable, hidden }: Access): boolean {
  const all = readOnly === null ? ["/"] : [...readOnly, ...readable, ...writable];
  if (!all.some((one) => isWithin(path, one))) return false;
  const shown = [...readable, ...writable].filter((one) => isWithin(path, one));
  // A readable path inside a hidden folder stays visible; a hidden folder inside a readable one does not.
  return hidden.every(
    (folder) => !isWithin(path, folder.path) || shown.some((one) => isWithin(one, folder.path)),
  );
}
