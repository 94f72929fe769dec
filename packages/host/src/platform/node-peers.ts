// Loaded with a socket listener: what a first client does not need is loaded later.
import { accessSync, constants, readFile } from "node:fs";
import { isIPv4 } from "node:net";
import type { Peer, PeerSocket, Peers } from "./peers.ts";
import { shared } from "./shared-looks.ts";

/** Linux only: elsewhere nothing is known about peers. */
export const nodePeers: Peers = {
  find: async (socket) =>
    socket.kind === "tcp" ? tcpPeer(socket) : (await loadProcesses()).unixPeer(socket.fd),
  socketsOfOwn: async (mark) => {
    const { socketsOfOwn } = await loadProcesses();
    return shared(`own ${mark}`, () => socketsOfOwn(mark));
  },
};

/** Whether this system says who connects over TCP. */
export function canTellPeers(): boolean {
  try {
    accessSync("/proc/net/tcp", constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const loadProcesses = () => import("./node-peer-processes.ts");

const UNKNOWN: Peer = { kind: "unknown" };

async function tcpPeer(socket: Extract<PeerSocket, { kind: "tcp" }>): Promise<Peer> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  const own = spellings(localAddress, localPort);
  const other = spellings(remoteAddress, remotePort);
  // Not at once: the kernel looks through a table of many thousand places, however few of them are taken.
  const tables = await shared("tcp", () => Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map(textOf)));
  const row = (from: readonly string[], to: readonly string[]): string | undefined => {
    for (const [nth, table] of tables.entries()) {
      const at = table.indexOf(`${from[nth]} ${to[nth]} `);
      if (at >= 0) return table.slice(at, table.indexOf("\n", at));
    }
    return undefined;
  };
  const peer = row(other, own);
  if (peer === undefined) {
    // A table without our own end says nothing about the other one.
    if (row(own, other) === undefined) return UNKNOWN;
    return isOwnAddress(localAddress, remoteAddress) ? { kind: "gone" } : { kind: "elsewhere" };
  }
  const [, , , , , , uid, , inodeText] = peer.trim().split(/\s+/);
  const inode = Number(inodeText);
  if (!Number.isSafeInteger(inode)) return UNKNOWN;
  // Nobody has the socket any more, and the row has no user, either.
  if (inode === 0) return { kind: "gone" };
  return { kind: "here", socket: inode, isOtherUser: Number(uid) !== process.getuid?.() };
}

/** Whether a connection between these can only come from this machine. */
function isOwnAddress(local: string, remote: string): boolean {
  return local === remote || /^(::ffff:)?127\.|^::1$/.test(remote);
}

/** An address and port as the tables for IPv4 and IPv6 have them; an IPv6 address is in the second only. */
function spellings(address: string, port: number): readonly [string, string] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) {
    const hex = littleEndian(mapped.split(".").map(Number));
    return [`${hex}:${hexPort}`, `0000000000000000FFFF0000${hex}:${hexPort}`];
  }
  const bytes = bytesOfIPv6(address);
  const words = [0, 4, 8, 12].map((at) => littleEndian(bytes.slice(at, at + 4)));
  return ["-", `${words.join("")}:${hexPort}`];
}

function littleEndian(bytes: readonly number[]): string {
  return bytes
    .map((byte) => byte.toString(16).toUpperCase().padStart(2, "0"))
    .reverse()
    .join("");
}

function bytesOfIPv6(address: string): readonly number[] {
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groups = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => 0);
  return [...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}

/** Empty if there is no such file. */
function textOf(path: string): Promise<string> {
  return new Promise((resolve) => {
    readFile(path, "latin1", (error, text) => resolve(error === null ? text : ""));
  });
}
