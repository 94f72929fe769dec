import { dirname } from "node:path";
import type { HeldPath, Platform } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import { PUBLIC_SYSTEM_PATHS, SYSTEM_PATHS } from "./system-paths.ts";

/** A file or folder that is mounted in the sandbox at its own path. */
export interface Mount {
  readonly path: string;
  readonly writable: boolean;
  /** The descriptor that holds the file or folder; null for paths of the system, which commands cannot change. */
  readonly descriptor: number | null;
}

/** The mounts of a command. What they mount is held, so that nothing else can take its place. */
export interface HeldMounts {
  readonly mounts: readonly Mount[];
  close(): Promise<void>;
}

type Wanted = Pick<Mount, "path" | "writable">;
type MountPlatform = Pick<Platform, "files" | "workspace">;

const SYSTEM: ReadonlySet<string> = new Set([...SYSTEM_PATHS, ...PUBLIC_SYSTEM_PATHS]);

/**
 * Opens everything that is mounted for a command. A path that leads over a symlink now is left out: it did not when the
 * access was determined, so a command exchanged it.
 */
export async function holdMounts({ files, workspace }: MountPlatform, access: Access): Promise<HeldMounts> {
  const held: HeldPath[] = [];
  const canChange = (path: string): boolean => access.writable.some((root) => isWithin(path, root));
  const open = async ({ path, writable }: Wanted): Promise<Mount | undefined> => {
    if (SYSTEM.has(path)) return { path, writable, descriptor: null };
    // A profile may name a symlink, but none that commands can exchange.
    const one = await workspace.hold(canChange(path) ? path : await files.realPath(path).catch(() => path));
    if (one === undefined) return undefined;
    held.push(one);
    return { path, writable, descriptor: one.descriptor };
  };
  const close = async (): Promise<void> => {
    await Promise.all(held.splice(0).map((one) => one.close()));
  };
  try {
    const found = await Promise.all(wantedMounts(access).map(open));
    return { mounts: found.filter((one) => one !== undefined), close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/**
 * The mounts of an access. Every folder on the way from a writable folder to another mount is mounted, too: a folder
 * that contains mounts can be renamed, and another one can take its place, unless it is a mount itself.
 */
function wantedMounts({ readOnly, writable, protected: kept, readable, hidden }: Access): readonly Wanted[] {
  const wanted = new Map<string, boolean>();
  for (const path of readOnly ?? []) wanted.set(path, false);
  for (const path of writable) wanted.set(path, true);
  for (const path of [...kept, ...readable]) wanted.set(path, false);
  const points = [...wanted.keys(), ...hidden.map(({ path }) => path)];
  const isHidden = (path: string): boolean => hidden.some((one) => one.path === path);
  for (const point of points) {
    for (let at = dirname(point); at !== "/"; at = dirname(at)) {
      if (wanted.has(at) || isHidden(at)) continue;
      if (isInWritable(at, wanted, hidden)) wanted.set(at, true);
    }
  }
  return [...wanted].map(([path, isWritable]) => ({ path, writable: isWritable }));
}

/** Whether the nearest mount above a path is a writable one. */
function isInWritable(path: string, mounts: ReadonlyMap<string, boolean>, hidden: Access["hidden"]): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (hidden.some((one) => one.path === at)) return false;
    const found = mounts.get(at);
    if (found !== undefined) return found;
    if (at === "/") return false;
  }
}
