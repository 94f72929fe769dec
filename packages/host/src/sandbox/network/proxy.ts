import type { ByteStream, Dial, Platform } from "../../platform/platform.ts";
import { isLocalName } from "./host-rules.ts";
import { addressBytes, isLoopbackAddress, isPublicAddress, isSameAddress } from "./ip-addresses.ts";
import { readRequestHead, type Target, targetOf } from "./proxy-request.ts";
import { StreamReader } from "./stream-reader.ts";

/** What the proxy needs from the host. */
export interface ProxyPorts {
  readonly platform: Pick<Platform, "dial" | "timers">;
  /** Whether SOCKS 5 is supported besides HTTP. */
  readonly socks: boolean;
  /** Decides whether a program may connect to a target. Waits for the user's answer if one is needed. */
  judge(target: Target): Promise<Verdict>;
  /** Whether a rule allows exactly this network host. Only then may it have an address that is not public. */
  isListed(host: string): Promise<boolean>;
  /** Called with each connection that is refused. */
  refused(target: Target, words: string): void;
}

export type Verdict = { readonly kind: "allow" } | { readonly kind: "refuse"; readonly words: string };

const MAX_HEAD = 16 * 1024;
const HEAD_MS = 30_000;
const IDLE_MS = 10 * 60_000;
/** Limit on the addresses of one name that are tried. */
const MAX_ADDRESSES = 4;

/** Serves one proxy connection of a program until it ends. Never rejects. */
export async function serveConnection(
  ports: ProxyPorts,
  connection: ByteStream,
  signal: AbortSignal,
): Promise<void> {
  const drop = (): void => connection.destroy();
  signal.addEventListener("abort", drop, { once: true });
  const cancelHeadTimer = ports.platform.timers.after(HEAD_MS, drop);
  try {
    const reader = new StreamReader(connection);
    const demand =
      (await reader.peek()) === SOCKS_VERSION
        ? await readSocks(ports, reader, connection)
        : await readHttp(reader);
    cancelHeadTimer();
    await answer(ports, demand, reader, connection, signal);
  } catch {
    // Either side has disconnected.
  } finally {
    cancelHeadTimer();
    signal.removeEventListener("abort", drop);
    connection.destroy();
  }
}

/** A program's request, and how the proxy replies to it in the program's protocol. */
type ProxyDemand =
  | {
      readonly kind: "target";
      readonly target: Target;
      readonly forward: string | null;
      readonly writer: ReplyWriter;
    }
  | { readonly kind: "bad"; readonly reply: string | Uint8Array };

interface ReplyWriter {
  readonly connected: string | Uint8Array | null;
  refused(words: string): string | Uint8Array;
  failed(words: string): string | Uint8Array;
}

async function answer(
  ports: ProxyPorts,
  demand: ProxyDemand,
  reader: StreamReader,
  connection: ByteStream,
  signal: AbortSignal,
): Promise<void> {
  if (demand.kind === "bad") return sendLast(connection, demand.reply);
  const { target, forward, writer } = demand;
  const found = await connectTo(ports, target, signal);
  if (found.kind !== "remote") {
    if (found.kind === "fail") return sendLast(connection, writer.failed(found.words));
    ports.refused(target, found.words);
    return sendLast(connection, writer.refused(found.words));
  }
  const { remote } = found;
  const drop = (): void => remote.destroy();
  signal.addEventListener("abort", drop, { once: true });
  try {
    if (writer.connected !== null) await connection.write(bytesOf(writer.connected));
    if (forward !== null) await remote.write(Buffer.from(forward, "latin1"));
    await forwardBoth(ports, reader.rest(), connection, remote);
  } finally {
    signal.removeEventListener("abort", drop);
    remote.destroy();
  }
}

async function sendLast(connection: ByteStream, reply: string | Uint8Array): Promise<void> {
  await connection.write(bytesOf(reply));
  connection.end();
}

type ConnectResult =
  | { readonly kind: "remote"; readonly remote: ByteStream }
  | { readonly kind: "refuse" | "fail"; readonly words: string };

/**
 * Connects to a target if it is allowed. A name is resolved only after it was allowed, because a DNS query can leak
 * data.
 */
async function connectTo(ports: ProxyPorts, target: Target, signal: AbortSignal): Promise<ConnectResult> {
  const { host, port } = target;
  const dial = await ports.platform.dial();
  const isAddress = addressBytes(host) !== null;
  const isListed = await ports.isListed(host);
  if ((isLocalName(host) || (isAddress && !isPublicAddress(host))) && !isListed) return localRefusal(host);
  const verdict = await ports.judge(target);
  if (verdict.kind === "refuse") return verdict;
  let addresses: readonly string[];
  try {
    addresses = isAddress ? [host] : await dial.resolve(host);
  } catch {
    return { kind: "fail", words: `The name ${host} cannot be found.` };
  }
  const allowed: string[] = [];
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    const isOwnName = isListed && isLocalName(host) && isLoopbackAddress(address);
    if (isPublicAddress(address) || isOwnName || (await ports.isListed(address))) allowed.push(address);
  }
  if (allowed.length === 0) return localRefusal(host);
  if (isOwnListener(dial.own(), allowed, port))
    return { kind: "refuse", words: `Commands cannot connect to the host that runs them (${host}:${port}).` };
  for (const address of allowed) {
    try {
      return { kind: "remote", remote: await dial.connect(address, port, signal) };
    } catch (cause) {
      if (address === allowed.at(-1))
        return {
          kind: "fail",
          words: `The connection to ${host}:${port} failed: ${(cause as Error).message}.`,
        };
    }
  }
  return localRefusal(host);
}

/**
 * Whether a target may be one of this host's own listeners. Through such a listener, a command could act as the
 * host's user.
 */
function isOwnListener(own: ReturnType<Dial["own"]>, addresses: readonly string[], port: number): boolean {
  if (!own.ports.has(port)) return false;
  return addresses.some(
    (address) => !isPublicAddress(address) || own.addresses.some((one) => isSameAddress(one, address)),
  );
}

function localRefusal(host: string): ConnectResult {
  return {
    kind: "refuse",
    words: `The connection to ${host} was refused: it leads to this machine or its own network. To allow it, list the address itself in the rules.`,
  };
}

/** Forwards bytes in both directions until both have ended, or until the connection was idle for too long. */
async function forwardBoth(
  { platform }: ProxyPorts,
  input: AsyncIterable<Uint8Array>,
  connection: ByteStream,
  remote: ByteStream,
): Promise<void> {
  let cancel = (): void => {};
  const drop = (): void => {
    connection.destroy();
    remote.destroy();
  };
  const restartIdleTimer = (): void => {
    cancel();
    cancel = platform.timers.after(IDLE_MS, drop);
  };
  const pass = async (from: AsyncIterable<Uint8Array>, to: ByteStream): Promise<void> => {
    for await (const bytes of from) {
      restartIdleTimer();
      await to.write(bytes);
    }
    to.end();
  };
  restartIdleTimer();
  try {
    await Promise.all([pass(input, remote), pass(remote.input, connection)]);
  } finally {
    cancel();
    drop();
  }
}

async function readHttp(reader: StreamReader): Promise<ProxyDemand> {
  const head = await reader.until("\r\n\r\n", MAX_HEAD);
  if (head === null) return { kind: "bad", reply: httpReply(431, "The head of the request is too long.") };
  const request = readRequestHead(head);
  if (request.kind === "bad") return { kind: "bad", reply: httpReply(400, request.words) };
  const { target, forward } = request;
  return {
    kind: "target",
    target,
    forward,
    writer: {
      connected: forward === null ? "HTTP/1.1 200 Connection Established\r\n\r\n" : null,
      refused: (words) => httpReply(403, words),
      failed: (words) => httpReply(502, words),
    },
  };
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
};

function httpReply(status: number, words: string): string {
  const body = `${words}\n`;
  return [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

const SOCKS_VERSION = 5;
const SOCKS = { connect: 1, ipv4: 1, name: 3, ipv6: 4 } as const;
const SOCKS_REPLY = { connected: 0, failed: 1, refused: 2, unknownCommand: 7, unknownAddress: 8 } as const;

async function readSocks(
  ports: ProxyPorts,
  reader: StreamReader,
  connection: ByteStream,
): Promise<ProxyDemand> {
  const [, methods = 0] = (await reader.bytes(2)) ?? [];
  const offered = (await reader.bytes(methods)) ?? Buffer.alloc(0);
  if (!ports.socks || !offered.includes(0)) return { kind: "bad", reply: Uint8Array.of(SOCKS_VERSION, 0xff) };
  await connection.write(Uint8Array.of(SOCKS_VERSION, 0));
  const [version, command, , kind] = (await reader.bytes(4)) ?? [];
  const host = await socksHost(reader, kind);
  const port = await reader.bytes(2);
  if (version !== SOCKS_VERSION || command !== SOCKS.connect)
    return { kind: "bad", reply: socksReply(SOCKS_REPLY.unknownCommand) };
  const target = host === null || port === null ? null : targetOf(host, port.readUInt16BE(0), "socks5Tcp");
  if (target === null) return { kind: "bad", reply: socksReply(SOCKS_REPLY.unknownAddress) };
  return {
    kind: "target",
    target,
    forward: null,
    writer: {
      connected: socksReply(SOCKS_REPLY.connected),
      refused: () => socksReply(SOCKS_REPLY.refused),
      failed: () => socksReply(SOCKS_REPLY.failed),
    },
  };
}

async function socksHost(reader: StreamReader, kind: number | undefined): Promise<string | null> {
  switch (kind) {
    case SOCKS.ipv4: {
      const bytes = await reader.bytes(4);
      return bytes?.join(".") ?? null;
    }
    case SOCKS.ipv6: {
      const bytes = await reader.bytes(16);
      return bytes && (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
    }
    case SOCKS.name: {
      const length = (await reader.bytes(1))?.[0] ?? 0;
      return (await reader.bytes(length))?.toString("latin1") ?? null;
    }
    default:
      return null;
  }
}

function socksReply(code: number): Uint8Array {
  return Uint8Array.of(SOCKS_VERSION, code, 0, SOCKS.ipv4, 0, 0, 0, 0, 0, 0);
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text, "utf8") : text;
}
