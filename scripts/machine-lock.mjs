// One test, proof or bench run at a time on a machine: two of them side by side make each other slow, and tests fail.
//
// The lock is a port on loopback, so it ends with its holder, however that ends. The holder answers connections with
// a line that says who it is.
import { once } from "node:events";
import { createConnection, createServer } from "node:net";

/** Not registered for anything, and outside of the range that systems choose ports from. */
const PORT = 14_545;
/** Set for the programs that the holder starts: they belong to its run. */
const HELD = "BOBBIN_MACHINE_LOCK";

/**
 * Waits until no other run holds the lock, and takes it until this process ends. `name` is shown to those who wait.
 * Within a run that holds the lock, it returns at once.
 */
export async function lockMachine(name, { port = PORT } = {}) {
  if (process.env[HELD] === "1") return;
  const self = `${name} (process ${process.pid}, in ${process.cwd()})`;
  for (let said = ""; !(await listen(port, self)); ) {
    const holder = await connect(port);
    if (holder === undefined) continue;
    if (holder.name !== said) process.stderr.write(`waiting for another run to end: ${holder.name}\n`);
    said = holder.name;
    await holder.ended;
  }
  process.env[HELD] = "1";
}

/** Listens on the port until this process ends; false if somebody else does. */
async function listen(port, name) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(`bobbin: ${name}\n`);
    socket.unref();
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    if (cause.code === "EADDRINUSE") return false;
    throw cause;
  }
  server.unref();
  return true;
}

/** The holder's name and its end; undefined if it has ended already. */
async function connect(port) {
  const socket = createConnection({ port, host: "127.0.0.1" });
  const ended = new Promise((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  let text = "";
  const line = new Promise((resolve) => {
    socket.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n") || text.length > 1000) resolve(text.split("\n")[0]);
    });
  });
  const first = await Promise.race([line, ended]);
  if (first === undefined) return undefined;
  if (!first.startsWith("bobbin: "))
    throw new Error(`port ${port}, which is our lock, is held by another program`);
  return { name: first.slice("bobbin: ".length), ended };
}
