import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Frame } from "@bobbin/rpc";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { LinkRecording } from "../../../../../test/support/link-recording.ts";
import type { Listener } from "./listener.ts";
import { controlSocketPath, listenUnix, type UnixOptions } from "./unix.ts";

let home: string;
const listeners: Listener[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "u-"));
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
  await rm(home, { recursive: true });
});

async function open(options: Partial<UnixOptions> = {}) {
  const recording = new LinkRecording();
  const listener = await listenUnix({ accept: recording.accept, home, ...options });
  listeners.push(listener);
  return { listener, recording };
}

async function connect(path: string): Promise<WebSocket> {
  const client = new WebSocket(`ws+unix://${path}:/`);
  await once(client, "open");
  return client;
}

const mode = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o777).toString(8);

/** A socket file that a killed process left behind. */
async function leaveStale(path: string): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`,
  ]);
  await once(child.stdout!, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect((await lstat(path)).isSocket()).toBe(true);
}

describe("a Unix socket listener", () => {
  it("speaks WebSocket at the control socket of the home, which only this user can open", async () => {
    const { listener, recording } = await open();
    const path = controlSocketPath(home);
    expect(path).toBe(join(home, "app-server-control", "app-server-control.sock"));
    expect(listener.url).toBe(`unix://${path}`);
    expect(await mode(path)).toBe("600");
    expect(await mode(join(home, "app-server-control"))).toBe("700");
    expect(await readdir(join(home, "app-server-control"))).toEqual(["app-server-control.sock"]);
    const client = await connect(path);
    const server = await recording.next();
    expect(server.meta).toEqual({ transport: "unix", principal: { kind: "local" } });
    client.send("hello");
    await server.until("hello");
    server.link.send(new Frame("there"));
    expect(String((await once(client, "message"))[0])).toBe("there");
  });

  it("removes the private folder of a host that was killed while it bound its socket, and no other", async () => {
    const abandoned = join(home, ".bAbCdEf");
    const recent = join(home, ".bGhIjKl");
    const other = join(home, ".build");
    const full = join(home, ".bundles");
    for (const folder of [abandoned, recent, other, full]) await mkdir(folder);
    await leaveStale(join(abandoned, "s"));
    await writeFile(join(full, "s"), "mine");
    for (const folder of [abandoned, other, full]) await utimes(folder, 1, 1);
    await open({ path: join(home, "b.sock") });
    expect((await readdir(home)).toSorted()).toEqual([".bGhIjKl", ".build", ".bundles", "b.sock"]);
    expect(await readFile(join(full, "s"), "utf8")).toBe("mine");
  });

  it("takes any path, and leaves a folder that was there as it is", async () => {
    await chmod(home, 0o755);
    const path = join(home, "b.sock");
    await open({ path });
    expect(await mode(path)).toBe("600");
    expect(await mode(home)).toBe("755");
    await connect(path);
  });

  it("never shows the socket with a wider mode, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      const path = join(home, "made", "b.sock");
      await open({ path });
      expect(await mode(path)).toBe("600");
      expect(await mode(join(home, "made"))).toBe("700");
    } finally {
      process.umask(before);
    }
  });

  it("replaces a socket file that nobody answers at", async () => {
    const path = join(home, "b.sock");
    await leaveStale(path);
    await open({ path });
    expect(await mode(path)).toBe("600");
    await connect(path);
    expect(await readdir(home)).toEqual(["b.sock"]);
  });

  it("refuses a socket that somebody answers at and leaves it alone", async () => {
    const path = join(home, "b.sock");
    await open({ path });
    await expect(open({ path })).rejects.toMatchObject({
      code: "socketInUse",
      message: expect.stringContaining(path),
    });
    await connect(path);
    expect(await readdir(home)).toEqual(["b.sock"]);
  });

  it("lets exactly one of several hosts that start at once have it", async () => {
    for (let round = 0; round < 10; round++) {
      const path = join(home, `${round}.sock`);
      await leaveStale(path);
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => open({ path })));
      const failures = attempts.filter((attempt) => attempt.status === "rejected");
      expect(failures).toHaveLength(7);
      for (const failure of failures) expect(failure.reason).toMatchObject({ code: "socketInUse" });
      await connect(path);
    }
    expect((await readdir(home)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("never deletes what is no socket", async () => {
    const path = join(home, "notes.txt");
    await writeFile(path, "mine");
    await expect(open({ path })).rejects.toMatchObject({ code: "notASocket" });
    expect(await readFile(path, "utf8")).toBe("mine");
    const folder = join(home, "folder");
    await mkdir(folder);
    await expect(open({ path: folder })).rejects.toMatchObject({ code: "notASocket" });
    const dangling = join(home, "dangling");
    await symlink(join(home, "nowhere"), dangling);
    await expect(open({ path: dangling })).rejects.toMatchObject({ code: "notASocket" });
  });

  it("says that a path is too long or cannot be made", async () => {
    await expect(open({ path: join(home, "x".repeat(120)) })).rejects.toMatchObject({
      code: "badSocketPath",
    });
    await writeFile(join(home, "file"), "");
    await expect(open({ path: join(home, "file", "b.sock") })).rejects.toMatchObject({
      code: "listenFailed",
    });
  });

  it("removes its socket when it closes", async () => {
    const { listener } = await open();
    await listener.close(0);
    await listener.close(0);
    await expect(lstat(controlSocketPath(home))).rejects.toThrow("ENOENT");
  });

  it("leaves a socket that is no longer its own", async () => {
    const path = join(home, "b.sock");
    const first = await open({ path });
    await rm(path);
    await open({ path });
    await first.listener.close(0);
    await connect(path);
  });

  it("serves probes and refuses web pages", async () => {
    await open();
    const get = async (url: string, headers = {}) => {
      const asked = request({ socketPath: controlSocketPath(home), path: url, headers }).end();
      const [response] = await once(asked, "response");
      response.resume();
      return response.statusCode;
    };
    expect(await get("/readyz")).toBe(200);
    expect(await get("/readyz", { origin: "http://localhost" })).toBe(403);
  });
});
