import { FRAME, HEAD_BYTES, MAX_CONNECTIONS, MAX_DATA, WINDOW } from "./bridge-protocol.ts";

/**
 * The port on which the bridge listens: on the loopback of the command's own network namespace, where every port is
 * free.
 */
export const BRIDGE_PORT = 3128;

interface BridgeSettings {
  readonly port: number;
  /** The descriptors of the channel. */
  readonly input: number;
  readonly output: number;
  readonly frame: typeof FRAME;
  readonly headBytes: number;
  readonly window: number;
  readonly maxData: number;
  readonly maxConnections: number;
}

/**
 * The source of the bridge, a proxy process inside the sandbox: JavaScript for `node -e`. It forwards bytes and
 * decides nothing.
 */
export function bridgeScript(descriptors: { readonly input: number; readonly output: number }): string {
  const settings: BridgeSettings = {
    port: BRIDGE_PORT,
    ...descriptors,
    frame: FRAME,
    headBytes: HEAD_BYTES,
    window: WINDOW,
    maxData: MAX_DATA,
    maxConnections: MAX_CONNECTIONS,
  };
  return `(${runBridge.toString()})(require("net"),require("fs"),process,${JSON.stringify(settings)})`;
}

interface Connection {
  readonly socket: BridgeSocket;
  /** How many bytes the host still accepts on this connection. */
  credit: number;
  /** Bytes that were read and not sent yet. */
  waiting: Buffer;
  hasEnded: boolean;
}

/** The part of Node's sockets that the bridge uses. */
interface BridgeSocket {
  on(event: "data", listener: (bytes: Buffer) => void): void;
  on(event: "end" | "close" | "error", listener: () => void): void;
  write(bytes: Uint8Array, done?: () => void): boolean;
  end(): void;
  destroy(): void;
  pause(): void;
  resume(): void;
}

interface BridgeNet {
  Socket: new (options: {
    readonly fd: number;
    readonly readable: boolean;
    readonly writable: boolean;
  }) => BridgeSocket;
  createServer(
    options: { readonly allowHalfOpen: boolean },
    accept: (socket: BridgeSocket) => void,
  ): {
    listen(port: number, host: string, ready: () => void): void;
    on(event: "error", fail: () => void): void;
  };
}

interface BridgeFiles {
  writeSync(descriptor: number, text: string): void;
  closeSync(descriptor: number): void;
  openSync(path: string, flags: string): number;
}

interface BridgeProcess {
  on(signal: string, listener: () => void): void;
  exit(code: number): void;
}

/** The source text of this function runs inside the sandbox, so the function may use only its arguments. */
function runBridge(
  net: BridgeNet,
  fs: BridgeFiles,
  process: BridgeProcess,
  { port, input, output, frame, headBytes, window, maxData, maxConnections }: BridgeSettings,
): void {
  const connections = new Map<number, Connection>();
  let last = 0;
  // Ignored, because signals of terminal keys are meant for the command.
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP"]) process.on(signal, () => {});
  const toHost = new net.Socket({ fd: output, readable: false, writable: true });
  const fromHost = new net.Socket({ fd: input, readable: true, writable: false });
  const leave = (): void => process.exit(0);
  toHost.on("error", leave);
  fromHost.on("error", leave);
  fromHost.on("end", leave);

  const send = (kind: number, id: number, amount: number, bytes?: Buffer): void => {
    const head = Buffer.allocUnsafe(headBytes);
    head[0] = kind;
    head.writeUInt32BE(id, 1);
    head.writeUInt32BE(amount, 5);
    toHost.write(bytes === undefined ? head : Buffer.concat([head, bytes]));
  };
  const flush = (id: number, connection: Connection): void => {
    while (connection.waiting.length > 0 && connection.credit > 0) {
      const piece = connection.waiting.subarray(0, Math.min(connection.credit, maxData));
      connection.waiting = connection.waiting.subarray(piece.length);
      connection.credit -= piece.length;
      send(frame.DATA, id, piece.length, piece);
    }
    if (connection.waiting.length > 0) connection.socket.pause();
    else if (connection.hasEnded) send(frame.END, id, 0);
    else connection.socket.resume();
  };
  const receive = (kind: number, id: number, amount: number, bytes: Buffer): void => {
    const connection = connections.get(id);
    if (connection === undefined) return;
    const { socket } = connection;
    if (kind === frame.DATA) socket.write(bytes, () => send(frame.CREDIT, id, bytes.length));
    else if (kind === frame.END) socket.end();
    else if (kind === frame.RESET) {
      connections.delete(id);
      socket.destroy();
    } else if (kind === frame.CREDIT) {
      connection.credit += amount;
      if (connection.waiting.length > 0) flush(id, connection);
    }
  };

  let rest: Buffer = Buffer.alloc(0);
  fromHost.on("data", (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= headBytes) {
      const kind = rest[0]!;
      const amount = rest.readUInt32BE(5);
      const length = headBytes + (kind === frame.DATA ? amount : 0);
      if (rest.length < length) return;
      receive(kind, rest.readUInt32BE(1), amount, Buffer.from(rest.subarray(headBytes, length)));
      rest = rest.subarray(length);
    }
  });

  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    if (connections.size >= maxConnections) return socket.destroy();
    const id = ++last;
    const connection: Connection = { socket, credit: window, waiting: Buffer.alloc(0), hasEnded: false };
    connections.set(id, connection);
    send(frame.OPEN, id, 0);
    socket.on("data", (bytes) => {
      connection.waiting = Buffer.concat([connection.waiting, bytes]);
      flush(id, connection);
    });
    socket.on("end", () => {
      connection.hasEnded = true;
      flush(id, connection);
    });
    socket.on("close", () => {
      if (connections.delete(id)) send(frame.RESET, id, 0);
    });
  });
  server.on("error", () => process.exit(1));
  server.listen(port, "127.0.0.1", () => {
    // The starting shell waits for the end of this output.
    fs.writeSync(1, "ready");
    fs.closeSync(1);
    fs.openSync("/dev/null", "w");
  });
}
