import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { Listener } from "../server/listen/listener.ts";
import type { ConsoleLogin } from "../server/site/console-login.ts";
import { controlSockets } from "./control-sockets.ts";

/**
 * The address of the console for a browser on this machine, with a token in its fragment if the listener has
 * authentication. Undefined if the host has no WebSocket listener.
 */
export function consoleAddress(
  listeners: readonly Listener[],
  consoleLogin: ConsoleLogin | undefined,
): string | undefined {
  const listener = listeners.find(({ url }) => url.startsWith("ws://"));
  if (listener === undefined) return undefined;
  const address = new URL(localUrl(listener.url).replace(/^ws:/, "http:"));
  return consoleLogin === undefined
    ? address.origin
    : `${address.origin}/#token=${consoleLogin.issueToken()}`;
}

/** Whether a listener has all addresses of this machine. */
export function isWildcard(url: string): boolean {
  return /^ws:\/\/(0\.0\.0\.0|\[::\])[:/]/.test(url);
}

/** The address for clients on this machine: the loopback address, if the host listens on all addresses. */
export function localUrl(url: string): string {
  return url.replace(/^ws:\/\/0\.0\.0\.0/, "ws://127.0.0.1").replace(/^ws:\/\/\[::\]/, "ws://[::1]");
}

/** How long a host may take to answer. */
const ANSWER_MS = 5_000;

/**
 * Asks the host that runs on a home for a link to its console. For `bobbin open`. Undefined if no host runs, or if
 * browsers cannot reach it.
 */
export async function requestConsoleLink(home: string): Promise<string | undefined> {
  for (const path of controlSockets(home)) {
    const url = await askForLink(path).catch(() => undefined);
    if (url !== undefined) return url;
  }
  return undefined;
}

async function askForLink(socketPath: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: "/open", method: "POST", timeout: ANSWER_MS }, (response) => {
      text(response).then((body) => {
        const { url } = JSON.parse(body) as { url?: unknown };
        resolve(response.statusCode === 200 && typeof url === "string" ? url : undefined);
      }, reject);
    });
    asked.once("timeout", () => asked.destroy(new Error("the host does not answer")));
    asked.once("error", reject);
    asked.end();
  });
}
