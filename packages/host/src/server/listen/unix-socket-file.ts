// Files are accessed synchronously: sockets are opened when the host starts, before it has anything else to do, and a
// dozen calls through the thread pool would delay its first client.
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { createConnection, type Server } from "node:net";
import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { makeFolders } from "../../platform/make-folders.ts";
import { ListenError } from "./listener.ts";

/** The system's limit on a socket's path, without the final NUL. */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;
const ABANDONED_CLAIM_MS = 5_000;
/** Beginning of the name of a private folder; `mkdtemp` adds six characters. */
const PRIVATE_FOLDER = ".b";

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Binds the socket in a private folder, sets its mode, and then moves it to its path. A socket bound at its path
 * would be open to other users for a moment, and the umask cannot prevent that, because it applies to the whole
 * process.
 */
export async function bindPrivately(server: Server, path: string): Promise<Identity> {
  const folder = dirname(path);
  const room = Math.max(
    Buffer.byteLength(path),
    Buffer.byteLength(folder) + `/${PRIVATE_FOLDER}XXXXXX/s`.length,
  );
  if (room > MAX_PATH_BYTES) {
    throw new ListenError(
      "badSocketPath",
      `the socket path ${path} is too long: this system takes ${MAX_PATH_BYTES} bytes; use a shorter folder`,
    );
  }
  let privateFolder: string;
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) await makeFolders(folder);
    removeAbandonedFolders(folder);
    privateFolder = mkdtempSync(join(folder, PRIVATE_FOLDER));
  } catch (error) {
    throw failed(path, error);
  }
  const privateSocket = join(privateFolder, "s");
  try {
    await listen(server, privateSocket);
    chmodSync(privateSocket, 0o600);
    const { dev, ino } = lstatSync(privateSocket, { bigint: true });
    await putInPlace(privateSocket, path);
    return { dev, ino };
  } catch (error) {
    server.close();
    throw error instanceof ListenError ? error : failed(path, error);
  } finally {
    try {
      removePrivateFolder(privateFolder);
    } catch {
      // A later start removes the folder.
    }
  }
}

async function putInPlace(privateSocket: string, path: string): Promise<void> {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (there && !there.isSocket()) {
    throw new ListenError(
      "notASocket",
      `${path} exists and is not a socket; it was left alone, choose another path or move it away`,
    );
  }
  if (there && (await answers(path))) throw inUse(path);
  if (there) removeStale(path, there);
  // Unlike rename, link never replaces an existing file.
  if (!tryLink(privateSocket, path)) throw inUse(path);
}

/**
 * Removes a stale socket. Two hosts that start at the same moment see the same stale socket, and removing it by name
 * could remove the new socket of the other host. So only the host that claims this very file removes it.
 */
function removeStale(path: string, stale: Identity): void {
  const claim = join(dirname(path), `.stale-${stale.dev}-${stale.ino}`);
  try {
    if (!tryLink(path, claim)) {
      dropAbandoned(claim);
      if (!tryLink(path, claim)) throw inUse(path);
    }
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  try {
    const claimed = lstatSync(claim, { bigint: true });
    if (claimed.ino !== stale.ino || claimed.dev !== stale.dev) throw inUse(path);
    unlinkSync(path);
  } finally {
    unlinkSync(claim);
  }
}

/** Removes a socket that no process listens on. Leaves anything else alone. */
export async function removeUnanswered(path: string): Promise<void> {
  const there = lstatSync(path, { bigint: true });
  if (there.isSocket() && !(await answers(path))) removeStale(path, there);
}

/**
 * Removes the private folders of hosts that were killed while they bound a socket. Such a folder contains nothing
 * else.
 */
function removeAbandonedFolders(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(PRIVATE_FOLDER) || name.length !== PRIVATE_FOLDER.length + 6) continue;
    const path = join(folder, name);
    try {
      const { mtimeMs } = lstatSync(path);
      if (Date.now() - mtimeMs < ABANDONED_CLAIM_MS) continue;
      removePrivateFolder(path);
    } catch {
      // Another host has removed the folder already, or it belongs to another user.
    }
  }
}

/** Removes a private folder with its socket. Leaves it if it contains anything else. */
function removePrivateFolder(folder: string): void {
  const socket = lstatSync(join(folder, "s"), { throwIfNoEntry: false });
  if (socket?.isSocket()) unlinkSync(join(folder, "s"));
  rmdirSync(folder);
}

/** Removes a claim whose host was killed. */
function dropAbandoned(claim: string): void {
  const { ctimeMs } = lstatSync(claim);
  if (Date.now() - ctimeMs > ABANDONED_CLAIM_MS) unlinkSync(claim);
}

/** Returns false if the path already exists. */
function tryLink(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** Removes the socket, unless another socket has replaced it. */
export function removeIfOurs(path: string, ours: Identity): void {
  try {
    const there = lstatSync(path, { bigint: true });
    if (there.ino === ours.ino && there.dev === ours.dev) unlinkSync(path);
  } catch {
    // The socket was removed already.
  }
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

/** Whether a process accepts connections on the socket. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createConnection({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      // A full backlog (EAGAIN) means that a process listens. A permission error means that the socket belongs to
      // another user.
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
