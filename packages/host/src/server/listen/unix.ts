import { chmod, link, lstat, mkdir, mkdtemp, rename, rm, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { Site } from "../http.ts";
import { type Accept, type Door, ListenError } from "./door.ts";
import { Guard } from "./guard.ts";
import { SocketDoor } from "./socket-door.ts";

export interface UnixOptions {
  readonly accept: Accept;
  /** Without one: the control socket in `home`. */
  readonly path?: string;
  readonly home: string;
  readonly allowedOrigins?: readonly string[];
  readonly site?: Site;
  readonly pingEveryMs?: number;
}

/** The kernel's room for a socket's path, without its final NUL. */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

export function controlSocketPath(home: string): string {
  return join(home, "app-server-control", "app-server-control.sock");
}

/** Opens `unix://PATH`: WebSocket over a socket that only this user can open, which is its authentication. */
export async function listenUnix(options: UnixOptions): Promise<Door> {
  const path = resolve(options.path ?? controlSocketPath(options.home));
  if (process.platform === "win32") {
    throw new ListenError(
      "badSocketPath",
      "unix:// needs a system with Unix sockets; use ws://127.0.0.1:PORT",
    );
  }
  const { allowedOrigins } = options;
  const door = new SocketDoor({
    accept: options.accept,
    transport: "unix",
    guard: new Guard({ loopback: false, ...(allowedOrigins && { allowedOrigins }) }),
    ...(options.site && { site: options.site }),
    ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
    reap: false,
  });
  const ours = await bindPrivately(door.server, path);
  door.opened(`unix://${path}`);
  let closing: Promise<void> | undefined;
  return {
    url: door.url,
    close(graceMs) {
      const closed = door.close(graceMs);
      // At once, so that nobody finds a socket that no longer answers.
      closing ??= removeIfOurs(path, ours).then(() => closed);
      return closing;
    },
  };
}

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Binds in a folder that nobody else can enter and moves the socket to its place when its mode is right: a
 * socket bound in place is open to others for a moment, and the umask belongs to the whole process.
 */
async function bindPrivately(server: Server, path: string): Promise<Identity> {
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    nest = await mkdtemp(join(folder, "."));
  } catch (error) {
    throw failed(path, error);
  }
  const egg = join(nest, "s");
  try {
    await listen(server, egg);
    await chmod(egg, 0o600);
    const { dev, ino } = await lstat(egg, { bigint: true });
    await putInPlace(egg, path, join(nest, "stale"));
    return { dev, ino };
  } catch (error) {
    server.close();
    throw error instanceof ListenError ? error : failed(path, error);
  } finally {
    await rm(nest, { recursive: true, force: true });
  }
}

async function putInPlace(egg: string, path: string, aside: string): Promise<void> {
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  if (there) {
    if (!there.isSocket()) {
      throw new ListenError(
        "notASocket",
        `${path} exists and is not a socket; it was left alone, choose another path or move it away`,
      );
    }
    if (await answers(path)) throw inUse(path);
    await takeAway(path, aside, there);
  }
  try {
    // Unlike a rename it never replaces what came there in the meantime.
    await link(egg, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw inUse(path);
    throw error;
  }
}

/** Another host that starts at this moment may have taken the stale socket away, or put its own there. */
async function takeAway(path: string, aside: string, stale: Identity): Promise<void> {
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const taken = await lstat(aside, { bigint: true });
  if (taken.ino === stale.ino && taken.dev === stale.dev) return;
  await link(aside, path).catch(() => {});
  throw inUse(path);
}

async function removeIfOurs(path: string, ours: Identity): Promise<void> {
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
  const message = error instanceof Error ? error.message : String(error);
  return new ListenError("listenFailed", `cannot listen on unix://${path}: ${message}`, { cause: error });
}
