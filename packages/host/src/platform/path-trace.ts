import type { BigIntStats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import type { Bounds, FileIdentity, PathHop, PathTrace } from "./machine-file-access.ts";

const MAX_LINKS = 40;

/** Resolves a path as the kernel does, name by name. */
export async function tracePath(path: string, bounds: Bounds): Promise<PathTrace> {
  const hops: PathHop[] = [];
  try {
    return { hops, found: await follow(path, hops, bounds) };
  } catch {
    // The name is missing, not a folder, too long or unreadable: the trace ends there.
    return { hops, found: undefined };
  }
}

async function follow(path: string, hops: PathHop[], bounds: Bounds): Promise<PathTrace["found"]> {
  const { root } = parse(path);
  let at = root;
  let found = await lstat(root, { bigint: true });
  const rest = namesOf(path.slice(root.length));
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift()!;
    if (name === "..") {
      at = dirname(at);
      found = await lstat(at, { bigint: true });
      continue;
    }
    hops.push({ folder: identityOf(at, found), name, isLast: rest.length === 0 });
    const next = join(at, name);
    const stats = await lstat(next, { bigint: true });
    if (!stats.isSymbolicLink()) {
      at = next;
      found = stats;
      continue;
    }
    if (++links > MAX_LINKS) return undefined;
    const text = await readlink(next);
    rest.unshift(...namesOf(text));
    if (!text.startsWith("/")) continue;
    at = root;
    found = await lstat(root, { bigint: true });
  }
  if (!bounds.isAllowed(at)) return undefined;
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  return { ...identityOf(at, found), kind };
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function identityOf(path: string, stats: BigIntStats): FileIdentity {
  const { dev, ino, birthtimeNs, ctimeNs, mtimeNs, size } = stats;
  const id = `${dev} ${ino} ${birthtimeNs}`;
  return { path, id, stamp: `${id} ${size} ${mtimeNs} ${ctimeNs}` };
}
