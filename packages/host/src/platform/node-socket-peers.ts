// Every socket listener loads this module, so it is small. Code that the first client does not need is imported
// later.
import { accessSync, closeSync, constants, openSync, readSync } from "node:fs";
import { isIPv4 } from "node:net";
import { nextTurn, sharedLookup } from "./shared-lookups.ts";
import type { Peer, PeerLookup, PeerSocket } from "./socket-peers.ts";

/**
 * Finds the processes at the other end of accepted connections. Linux only: on other systems every peer is `unknown`.
 */
export const nodePeers: PeerLookup = {
  find: async (socket) =>
    socket.kind === "tcp" ? tcpPeer(socket) : (await loadProcesses()).unixPeer(socket.fd),
  holderOf: async (socket) => (await loadProcesses()).holderOf(socket),
};

/** Whether this system has the tables by which the peer of a TCP connection is found. */
export function canTellPeers(): boolean {
  try {
    accessSync("/proc/net/tcp", constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const loadProcesses = () => import("./node-socket-owners.ts");

const UNKNOWN: Peer = { kind: "unknown" };

/**
 * The kernel's tables of TCP connections. `tcp6` also lists the IPv4 connections of sockets that serve both versions of
 * IP. Most peers are in `tcp`.
 */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;

async function tcpPeer(socket: Extract<PeerSocket, { kind: "tcp" }>): Promise<Peer> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  const own = procNotations(localAddress, localPort);
  const other = procNotations(remoteAddress, remotePort);
  const texts: string[] = [];
  const row = (from: readonly string[], to: readonly string[]): string | undefined => {
    for (const [nth, text] of texts.entries()) {
      const at = text.indexOf(`${from[nth]} ${to[nth]} `);
      if (at >= 0) return text.slice(at, text.indexOf("\n", at));
    }
    return undefined;
  };
  let peer: string | undefined;
  for (const [nth, table] of TABLES.entries()) {
    texts.push(await readTable(table, `${other[nth]} ${own[nth]} `));
    peer = row(other, own);
    if (peer !== undefined) break;
  }
  if (peer === undefined) {
    // If the tables do not list this end of the connection, they say nothing about the peer.
    if (row(own, other) === undefined) return UNKNOWN;
    return isOwnAddress(localAddress, remoteAddress) ? { kind: "gone" } : { kind: "elsewhere" };
  }
  const [, , , , , , uid, , inodeText] = peer.trim().split(/\s+/);
  const inode = Number(inodeText);
  if (!Number.isSafeInteger(inode)) return UNKNOWN;
  // With inode 0, no process holds the socket any more, and the user ID in the row is meaningless.
  if (inode === 0) return { kind: "gone" };
  return { kind: "here", socket: inode, isOtherUser: Number(uid) !== process.getuid?.() };
}

/** Whether a connection between these addresses can only come from this machine. */
function isOwnAddress(local: string, remote: string): boolean {
  return local === remote || /^(::ffff:)?127\.|^::1$/.test(remote);
}

/**
 * An address and port in the notation of /proc/net/tcp and of /proc/net/tcp6; an IPv6 address is only in the second.
 */
function procNotations(address: string, port: number): readonly [string, string] {
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

/** For each table, the rows that its next read must find. All callers that wait for that read share it. */
const wanted = new Map<string, Set<string>>();

/** The text of a table, at least up to the row that contains `ends`; all of it if there is no such row. */
function readTable(table: string, ends: string): Promise<string> {
  const together = wanted.get(table) ?? new Set();
  wanted.set(table, together.add(ends));
  return sharedLookup(table, () => {
    wanted.delete(table);
    return readUntil(table, together);
  });
}

const CHUNK_BYTES = 16 * 1024;
/** For more rows than this, all of a table is read, because searching each part for each row takes longer. */
const MAX_SOUGHT = 8;

/** After this many reads, the event loop has its turn. The kernel returns at most a page per read. */
const READS_AT_ONCE = 16;

/**
 * Reads a file up to the line in which the last of `sought` is found. Reads synchronously: a read of a table with many
 * thousand empty slots takes the kernel some milliseconds, but the first use of the thread pool delays the first client
 * by more. Reads no further than needed, because the kernel scans the table once more to find its end. Empty if the
 * file cannot be opened.
 */
async function readUntil(path: string, sought: ReadonlySet<string>): Promise<string> {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    const missing = new Set(sought);
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let text = "";
    let searched = 0;
    for (let nth = 0; ; nth++) {
      if (nth % READS_AT_ONCE === READS_AT_ONCE - 1) await nextTurn();
      const bytes = readSync(fd, buffer);
      if (bytes === 0) return text;
      text += buffer.toString("latin1", 0, bytes);
      if (missing.size > MAX_SOUGHT) continue;
      const lines = text.slice(searched, text.lastIndexOf("\n") + 1);
      searched += lines.length;
      for (const one of missing) if (lines.includes(one)) missing.delete(one);
      if (missing.size === 0) return text;
    }
  } finally {
    closeSync(fd);
  }
}
