// What a host does when its clients, or their programs, take all descriptors that it may have.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const MAX_OPEN_FILES = 256;
const FULL = { sandboxPolicy: { type: "dangerFullAccess" } };
const isLinux = process.platform === "linux";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const start = (): Promise<HostProcess> =>
  spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], maxOpenFiles: MAX_OPEN_FILES });

/** Connects without a request, and stays. */
async function silent(host: HostProcess): Promise<void> {
  const { hostname, port } = new URL(await host.site());
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
}

async function works(client: WireClient): Promise<void> {
  await client.turn(await client.startThread(), "hello");
  const command = ["echo", "still here"];
  expect(await client.call("command/exec", { command, ...FULL })).toMatchObject({ stdout: "still here\n" });
}

it.runIf(isLinux)("[FAULT-26] serves new clients while silent connections want all descriptors", async () => {
  const host = await start();
  for (let open = 0; open < 2 * MAX_OPEN_FILES; open++) await silent(host);
  await works(await host.join());
});

it.runIf(isLinux)(
  "[FAULT-26] refuses clients for which there is no descriptor, and serves the others",
  async () => {
    const host = await start();
    const first = await host.join();
    let refused = false;
    for (let open = 1; !refused && open < MAX_OPEN_FILES; open++) refused = await isRefused(host);
    expect(refused).toBe(true);
    await works(first);
  },
);

it.runIf(isLinux)("[FAULT-26] goes on as soon as it has descriptors again", async () => {
  const nodeArgs = ["--import", join(import.meta.dirname, "../support/take-descriptors.mjs")];
  const { host, client } = await stdioHost({ maxOpenFiles: MAX_OPEN_FILES, nodeArgs });
  host.signal("SIGUSR2");
  await host.logged(({ msg }) => msg === "descriptors are taken");
  // Loads the parts that run commands, and logs errors.
  for (const [method, params] of [
    ["command/exec", { command: ["echo"], ...FULL }],
    ["thread/start", {}],
    ["process/spawn", { processHandle: "p", command: ["echo"], cwd: "/" }],
    ["thread/list", {}],
  ] as const)
    await client.request(method, params);
  host.signal("SIGUSR2");
  await host.logged(({ msg }) => msg === "descriptors are free");
  await works(client);
  client.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });
});

async function isRefused(host: HostProcess): Promise<boolean> {
  return host.join().then(
    () => false,
    () => true,
  );
}
