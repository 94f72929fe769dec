import { chmod, link, lstat, mkdtemp, rm, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { makeFolders } from "../../platform/make-folders.ts";
import { ListenError } from "./door.ts";

/** The kernel's room for a socket's path, without its final NUL. */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;
const ABANDONED_CLAIM_MS = 5_000;

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Binds in a folder that nobody else can enter and moves the socket to its place when its mode is right: a
 * socket bound in place is open to others for a moment, and the umask belongs to the whole process.
 */
export async function bindPrivately(server: Server, path: string): Promise<Identity> {
  const folder = dirname(path);
  const room = Math.max(Buffer.byteLength(path), Buffer.byteLength(folder) + "/.XXXXXX/s".length);
  if (room > MAX_PATH_BYTES) {
    throw new ListenError(
      "badSocketPath",
      `the socket path ${path} is too long: this system takes ${MAX_PATH_BYTES} bytes; use a shorter folder`,
    );
  }
  let nest: string;
  try {
    await makeFolders(folder);
    nest = await mkdtemp(join(folder, "."));
  } catch (error) {
    throw failed(path, error);
  }
  const egg = join(nest, "s");
  try {
    await listen(server, egg);
    await chmod(egg, 0o600);
    const { dev, ino } = await lstat(egg, { bigint: true });
    await putInPlace(egg, path);
    return { dev, ino };
  } catch (error) {
    server.close();
    throw error instanceof ListenError ? error : failed(path, error);
  } finally {
    await rm(nest, { recursive: true, force: true });
  }
}

async function putInPlace(egg: string, path: string): Promise<void> {
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  if (there && !there.isSocket()) {
    throw new ListenError(
      "notASocket",
      `${path} exists and is not a socket; it was left alone, choose another path or move it away`,
    );
  }
  if (there && (await answers(path))) throw inUse(path);
  if (there) await removeStale(path, there);
  // Unlike a rename it never replaces what came there in the meantime.
  if (!(await tryLink(egg, path))) throw inUse(path);
}

/**
 * Hosts may start at the same moment and all see the same stale socket; one that removed it by name could
 * remove the winner's new one. So only whoever holds the claim to that very file removes it.
 */
async function removeStale(path: string, stale: Identity): Promise<void> {
  const claim = join(dirname(path), `.stale-${stale.dev}-${stale.ino}`);
  try {
    if (!(await tryLink(path, claim))) {
      await dropAbandoned(claim);
      if (!(await tryLink(path, claim))) throw inUse(path);
    }
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  try {
    const claimed = await lstat(claim, { bigint: true });
    if (claimed.ino !== stale.ino || claimed.dev !== stale.dev) throw inUse(path);
    await unlink(path);
  } finally {
    await unlink(claim);
  }
}

/** A host that was killed while it held the claim, for the few calls that it takes. */
async function dropAbandoned(claim: string): Promise<void> {
  const { ctimeMs } = await lstat(claim);
  if (Date.now() - ctimeMs > ABANDONED_CLAIM_MS) await unlink(claim);
}

/** False if something is there already. */
async function tryLink(existing: string, path: string): Promise<boolean> {
  try {
    await link(existing, path);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** Nobody may find a socket there that was put in its place since. */
export async function removeIfOurs(path: string, ours: Identity): Promise<void> {
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  if (there?.ino === ours.ino && there.dev === ours.dev) await unlink(path).catch(() => {});
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Whether somebody accepts connections there. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createConnection({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      // A full backlog (EAGAIN) is a living listener; no permission means that it is somebody else's.
      else if (error.code === "EAGAIN") resolve(true);
      else reject(error);
    });
  });
}

function inUse(path: string): ListenError {
  return new ListenError(
    "socketInUse",
    `another host is listening on unix://${path}; connect to it, stop it, or choose another path`,
  );
}

function failed(path: string, error: unknown): ListenError {
  const message = messageOf(error);
  return new ListenError("listenFailed", `cannot listen on unix://${path}: ${message}`, { cause: error });
}
