import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readlink, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
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

it("sockets of own processes are those of descendants and of marked ones, and no others", async () => {
  const { near } = await overTcp("127.0.0.1", "127.0.0.1");
  const mark = `mark-of-a-test-${process.pid}`;
  // One shell without a socket, and one that inherited a socket.
  const child = spawn("sleep", ["1000"], { stdio: ["ignore", "ignore", "ignore", near as never] });
  open.push({ close: () => void child.kill("SIGKILL") });
  await once(child, "spawn");
  const own = await nodePeers.socketsOfOwn(mark);
  expect(own.mayHave(await inodeOf(near))).toBe(true);
  const { far } = await overTcp("127.0.0.1", "127.0.0.1");
  expect(own.mayHave(await inodeOf(far))).toBe(false);
});

it("Linux can tell the peers of TCP connections", () => {
  expect(canTellPeers()).toBe(process.platform === "linux");
});
