// Starts a server under test on a WebSocket, and connects clients to it.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { initializeParams, ServerProcess, within } from "./server-process.mjs";

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}

/** Tries a TCP connection, which is cheaper than a WebSocket client. @param {string} url */
async function isListening(url) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Connects a client and initializes it. The caller closes it. @param {string} url */
export async function connectClient(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const reply = new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server closed the connection before it replied")));
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.id !== 1) return;
      if (frame.error) reject(new Error(`initialize was refused: ${frame.error.message}`));
      else resolve(frame.result);
    });
    socket.once("open", () =>
      socket.send(JSON.stringify({ id: 1, method: "initialize", params: initializeParams })),
    );
  });
  try {
    await within(10_000, "initialize was not answered", reply);
  } catch (error) {
    socket.on("error", () => {});
    socket.terminate();
    throw error;
  }
  socket.send(JSON.stringify({ method: "initialized" }));
  // Each running call listens.
  socket.setMaxListeners(0);
  return socket;
}

let lastId = 1;

/**
 * Sends a request on a connected client and resolves with its result. Rejects on an error reply.
 * @param {WebSocket} socket
 * @param {string} method
 * @param {unknown} params
 */
export async function call(socket, method, params) {
  const id = ++lastId;
  const reply = new Promise((resolve, reject) => {
    const listen = (/** @type {Buffer} */ data) => {
      const frame = JSON.parse(data.toString());
      if (frame.id !== id) return;
      socket.off("message", listen);
      if (frame.error) reject(new Error(`${method} was refused: ${frame.error.message}`));
      else resolve(frame.result);
    };
    socket.on("message", listen);
  });
  socket.send(JSON.stringify({ id, method, params }));
  return within(15_000, `${method} was not answered`, reply);
}

const TURN_MS = 60_000;

/**
 * Runs a turn on a connected client. Resolves when it is completed.
 * @param {WebSocket} socket
 * @param {string} threadId
 * @param {string} text
 */
export async function runTurn(socket, threadId, text) {
  /** @type {(data: Buffer) => void} */
  let listen = () => {};
  const completed = new Promise((resolve) => {
    listen = (data) => {
      const { method, params } = JSON.parse(data.toString());
      if (method === "turn/completed" && params.threadId === threadId) resolve(params.turn);
    };
    socket.on("message", listen);
  });
  const input = [{ type: "text", text, text_elements: [] }];
  try {
    await call(socket, "turn/start", { threadId, input });
    return await within(TURN_MS, "a turn was not completed", completed);
  } finally {
    socket.off("message", listen);
  }
}

/** @param {WebSocket} socket */
export async function leave(socket) {
  const closed = once(socket, "close");
  socket.close(1000);
  try {
    await within(5_000, "the connection did not close", closed);
  } finally {
    socket.terminate();
  }
}

/**
 * Starts `command --listen ws://127.0.0.1:PORT` and resolves with its first, initialized client, and with the time from
 * the start to the reply to its `initialize`.
 * @param {string[]} command
 * @param {{ env: NodeJS.ProcessEnv, cwd: string }} options
 * @param {{ tryEveryMs?: number }} [more]
 */
export async function startSocketServer(command, options, { tryEveryMs = 20 } = {}) {
  const url = `ws://127.0.0.1:${await freePort()}`;
  const begun = performance.now();
  const server = new ServerProcess([...command, "--listen", url], { ...options, stdin: "ignore" });
  // stdout is drained unread, because a full pipe would block the server.
  server.child.stdout?.resume();
  /** @type {string | undefined} */
  let ended;
  void server.ended.then((sentence) => {
    ended = sentence;
  });
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      if (await isListening(url)) {
        const client = await connectClient(url);
        return { server, url, client, tookMs: performance.now() - begun };
      }
      throw new Error(`nobody listens on ${url}`);
    } catch (error) {
      if (ended) throw new Error(ended);
      if (performance.now() > deadline) {
        await server.close();
        throw error;
      }
      await sleep(tryEveryMs);
    }
  }
}
