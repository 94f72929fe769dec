import { createServer } from "node:net";

/**
 * Finds a free port on loopback, for programs that cannot listen on port 0. It is below 32768: higher ports are given
 * to every program that asks for any port, and could be taken before this program listens.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
  throw new Error("no free port was found");
}
