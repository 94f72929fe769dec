import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { mkdtemp, readlink, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { canTellPeers, nodePeers } from "./node-socket-peers.ts";
import type { PeerSocket } from "./socket-peers.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const fdOf = (socket: Socket): number => (socket as unknown as { _handle: { fd: number } })._handle.fd;
const inodeOf = async (socket: Socket): Promise<number> =>
  Number(/\d+/.exec(await readlink(`/proc/self/fd/${fdOf(socket)}`))![0]);

function described(socket: Socket): PeerSocket {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined) return { kind: "unix", fd: fdOf(socket) };
  return {
    kind: "tcp",
    localAddress: localAddress!,
    localPort: localPort!,
    remoteAddress,
    remotePort: remotePort!,
  };
}

async function served(server: Server, join: () => Socket): Promise<{ near: Socket; far: Socket }> {
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const near = join();
  const [far] = await accepted;
  near.on("error", () => {});
  far.on("error", () => {});
  open.push({ close: () => near.destroy() }, { close: () => far.destroy() }, server);
  return { near, far };
}

async function overTcp(listenOn: string, connectTo: string): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, listenOn);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return served(server, () => connect({ host: connectTo, port }));
}

async function overUnix(): Promise<{ near: Socket; far: Socket }> {
  const folder = await mkdtemp(join(tmpdir(), "bobbin-peer-"));
  open.push({ close: () => void rm(folder, { recursive: true }) });
  const server = createServer();
  server.listen(join(folder, "s"));
  await once(server, "listening");
  return served(server, () => connect({ path: join(folder, "s") }));
}

const WAYS = {
  IPv4: () => overTcp("127.0.0.1", "127.0.0.1"),
  "another loopback address": () => overTcp("127.9.8.7", "127.9.8.7"),
  IPv6: () => overTcp("::1", "::1"),
  "IPv4 to a listener on IPv6": () => overTcp("::", "127.0.0.1"),
  "IPv6 to a listener on IPv4": () => overTcp("127.0.0.1", "::ffff:127.0.0.1"),
  "a Unix socket": overUnix,
};

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("who connects by %s", (way) => {
  it("is found", async () => {
    const { near, far } = await WAYS[way]();
    expect(await nodePeers.find(described(far))).toEqual({
      kind: "here",
      socket: await inodeOf(near),
      isOtherUser: false,
    });
  });

  it("is reported as gone after it has ended", async () => {
    const { near, far } = await WAYS[way]();
    const socket = described(far);
    near.destroy();
    // The peer's entry stays until the kernel has removed it.
    await eventually(async () => (await nodePeers.find(socket)).kind !== "here", "it is gone");
    expect(["gone", "unknown"]).toContain((await nodePeers.find(socket)).kind);
  });
});

it("callers that share a lookup each find their own peer, many or few", async () => {
  for (const count of [2, 20]) {
    const pairs = await Promise.all(
      Array.from({ length: count }, async () => await overTcp("127.0.0.1", "127.0.0.1")),
    );
    const found = await Promise.all(pairs.map(({ far }) => nodePeers.find(described(far))));
    const sockets = await Promise.all(pairs.map(({ near }) => inodeOf(near)));
    expect(found.map((peer) => peer.kind === "here" && peer.socket)).toEqual(sockets);
  }
});

it("concurrent callers share one or two lookups", async () => {
  const { far } = await overTcp("127.0.0.1", "127.0.0.1");
  const found = await Promise.all(Array.from({ length: 1000 }, () => nodePeers.find(described(far))));
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["here"]));
});

describe("the holder of a socket", () => {
  /** The process of a program that inherits a socket as descriptor 3, and runs until the end of the test. */
  async function inheriting(socket: Socket, argv: readonly [string, ...string[]]): Promise<number> {
    const [file, ...args] = argv;
    const child = spawn(file, args, {
      stdio: ["ignore", "pipe", "inherit", socket as never],
      detached: true,
    });
    open.push({ close: () => void process.kill(-child.pid!, "SIGKILL") });
    await once(child.stdout!, "data");
    return child.pid!;
  }

  it("[OWN-1] is the user if only ordinary processes have it, and unknown if none has", async () => {
    const { near, far } = await overTcp("127.0.0.1", "127.0.0.1");
    expect(await nodePeers.holderOf(await inodeOf(near))).toBe("user");
    const both = await Promise.all(
      [inodeOf(near), inodeOf(far)].map(async (inode) => nodePeers.holderOf(await inode)),
    );
    expect(both).toEqual(["user", "user"]);
    expect(await nodePeers.holderOf(1)).toBe("unknown");
  });

  it("[OWN-1] is a command if one of several processes is a descendant", async () => {
    const { near } = await overTcp("127.0.0.1", "127.0.0.1");
    await inheriting(near, ["sh", "-c", "echo; sleep 1000 & wait"]);
    expect(await nodePeers.holderOf(await inodeOf(near))).toBe("command");
  });

  it("[OWN-1] is a command that hides its descriptors, found out by one look at each thread", async () => {
    const { near } = await overTcp("127.0.0.1", "127.0.0.1");
    const duplicates = Array.from({ length: 6 }, (_, nth) => `exec ${nth + 4}<&3`).join("; ");
    const pid = await inheriting(near, ["sh", "-c", `${duplicates}; echo; exec sleep 1000`]);
    const inode = await inodeOf(near);
    near.destroy();
    await eventually(async () => (await nodePeers.holderOf(inode)) === "command", "only the command has it");
    const readLink = fs.readlinkSync;
    let refused = 0;
    // As for a superuser with fewer capabilities than the process, who may list the descriptors.
    const spy = vi.spyOn(fs, "readlinkSync").mockImplementation(((path: string) => {
      if (!path.startsWith(`/proc/${pid}/`)) return readLink(path);
      refused++;
      throw Object.assign(new Error("not permitted"), { code: "EACCES" });
    }) as typeof readLink);
    syncBuiltinESMExports();
    try {
      expect(await nodePeers.holderOf(inode)).toBe("command");
      expect(refused).toBe(1);
    } finally {
      spy.mockRestore();
      syncBuiltinESMExports();
    }
  });

  const hasKernelThreads =
    fs.existsSync("/proc/2/task/2/children") && fs.readFileSync("/proc/2/comm", "utf8") === "kthreadd\n";

  it.runIf(hasKernelThreads)("is found without a look at the kernel's threads", async () => {
    const { near } = await overTcp("127.0.0.1", "127.0.0.1");
    const inode = await inodeOf(near);
    const threads = fs.readFileSync("/proc/2/task/2/children", "utf8").trim().split(" ");
    const spy = vi.spyOn(fs, "readFileSync");
    syncBuiltinESMExports();
    try {
      expect(await nodePeers.holderOf(inode)).toBe("user");
      const read = spy.mock.calls.map(([path]) => String(path));
      expect(read).toContain(`/proc/${process.pid}/stat`);
      expect(read.filter((path) => threads.some((thread) => path === `/proc/${thread}/stat`))).toEqual([]);
    } finally {
      spy.mockRestore();
      syncBuiltinESMExports();
    }
  });

  const { unshare, exit } = {
    unshare: process.arch === "arm64" ? 97 : 272,
    exit: process.arch === "arm64" ? 93 : 60,
  };
  it.each([
    ["has the socket in a thread of its own table", `syscall(${unshare}, 0x400) == 0 or die`, "sleep 1000"],
    ["has a first thread that has ended", "", `syscall(${exit}, 0)`],
  ])("[OWN-1] is a command that %s", async (_, inThread, inFirst) => {
    const { near } = await overTcp("127.0.0.1", "127.0.0.1");
    const program = `use threads; use POSIX; use threads::shared; my $ready :shared = 0;
      threads->create(sub { ${inThread}; lock($ready); $ready = 1; cond_signal($ready); cond_wait($ready) while 1; });
      { lock($ready); cond_wait($ready) until $ready; }
      ${inThread === "" ? "" : "POSIX::close(3);"} syswrite(STDOUT, "ready"); ${inFirst};`;
    await inheriting(near, ["perl", "-e", program]);
    const inode = await inodeOf(near);
    near.destroy();
    // The table of an ended first thread is emptied after its last words.
    await eventually(async () => (await nodePeers.holderOf(inode)) === "command", "the thread is found");
  });
});

it("Linux can tell the peers of TCP connections", () => {
  expect(canTellPeers()).toBe(process.platform === "linux");
});
