import { get } from "node:http";
import { connectWebSocket } from "@bobbin/client";
import { WebSocket } from "ws";
import { BOBBIN_VERSION } from "../version.ts";

/** The program that listens on a port. A Bobbin that requires a token does not reveal its home. */
export type Listener =
  | { readonly kind: "nobody" | "other" }
  | { readonly kind: "bobbin"; readonly home?: string; readonly pid?: number };

/** Time limit for the reply. A program that does not reply in time is not a Bobbin host. */
const SILENCE_MS = 2_000;

/** Connects to an address and finds out which program listens there. */
export async function identifyListener(
  address: string,
  port: number,
  signal?: AbortSignal,
): Promise<Listener> {
  const limit = AbortSignal.timeout(SILENCE_MS);
  const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  // Every Bobbin serves this page, even if it requires a token.
  const page = await pageAt(address, port, stop);
  if (page === undefined) return { kind: "nobody" };
  if (!page.includes("<title>Bobbin</title>")) return { kind: "other" };
  return { kind: "bobbin", ...(await detailsOf(address, port, stop).catch(() => undefined)) };
}

/** The page at `/`; undefined if nothing listens there, empty if the program does not speak HTTP. */
function pageAt(address: string, port: number, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: reachable(address), port, path: "/", signal, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
        if (body.length > 10_000) response.destroy();
      });
      response.on("error", () => {});
      response.on("close", () => resolve(body));
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code === "ECONNREFUSED" ? undefined : "");
    });
  });
}

async function detailsOf(
  address: string,
  port: number,
  signal: AbortSignal,
): Promise<{ home: string; pid: number }> {
  const host = reachable(address);
  const url = `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const client = await connectWebSocket(url, { WebSocket, signal });
  try {
    const { codexHome: home } = await client.initialize(
      { name: "bobbin_doctor", version: BOBBIN_VERSION },
      { experimentalApi: true },
      { signal },
    );
    const { process } = await client.request("server/diagnostics", {}, { signal });
    return { home, pid: process.id };
  } finally {
    void client.close();
  }
}

/** Replaces a wildcard address by the loopback address, which can be connected to. */
function reachable(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}
