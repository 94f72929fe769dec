import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { byteStream } from "./node-byte-stream.ts";
import { listeningPorts } from "./own-listening-ports.ts";
import type { Dial } from "./platform.ts";

const CONNECT_MS = 30_000;

/** Outgoing TCP connections by Node. */
export const nodeDial: Dial = {
  async resolve(name) {
    const found = await lookup(name, { all: true, verbatim: true });
    return found.map(({ address }) => address);
  },
  async connect(address, port, signal) {
    // Only addresses are accepted: a host name would be resolved again, and could then lead to another address.
    if (isIP(address) === 0) throw new Error(`${address} is not an address`);
    const socket = await connected(address, port, signal);
    return byteStream(socket, socket);
  },
  own: () => ({
    ports: listeningPorts(),
    addresses: Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  }),
};

function connected(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const timer = setTimeout(() => socket.destroy(timedOut(address, port)), CONNECT_MS).unref();
    const stop = (): void => void socket.destroy(new Error("the connection attempt was cancelled"));
    const settled = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    socket.once("error", (cause) => {
      settled();
      reject(cause);
    });
    socket.once("connect", () => {
      settled();
      resolve(socket);
    });
  });
}

function timedOut(address: string, port: number): Error {
  return Object.assign(new Error(`connect ETIMEDOUT ${address}:${port}`), { code: "ETIMEDOUT" });
}
