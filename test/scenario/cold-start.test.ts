import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

/** Says, with the first reply, what was loaded by then: of Node itself, as modules, and as files. */
const WITNESS = `const fs = require("node:fs");
const { readFileSync } = fs;
const read = [];
fs.readFileSync = (path, ...rest) => {
  read.push(path);
  return readFileSync(path, ...rest);
};
const { write } = process.stdout;
process.stdout.write = (...reply) => {
  process.stdout.write = write;
  process.stderr.write(JSON.stringify([...process.moduleLoadList, ...Object.keys(require.cache), ...read]));
  return process.stdout.write(...reply);
};`;

const initialize = {
  id: 1,
  method: "initialize",
  params: { clientInfo: { name: "scenario", version: "1" } },
};
// Each of them takes a millisecond or more.
const HEAVY =
  /^NativeModule (child_process|crypto|dgram|fs\/promises|http|https|perf_hooks|tls|worker_threads|zlib)$/;

describe("a plain start", () => {
  it("loads no code that its first reply does not need", async () => {
    const witness = join(await freshFolder("witness"), "witness.cjs");
    await writeFile(witness, WITNESS);
    const run = await runBobbin(["app-server"], {
      input: `${JSON.stringify(initialize)}\n`,
      env: { NODE_OPTIONS: `--require ${witness}` },
    });
    expect(JSON.parse(run.stdout)).toHaveProperty("result.userAgent");
    const loaded = JSON.parse(run.stderr) as string[];
    expect(loaded).toContain("NativeModule fs");
    expect(loaded.filter((name) => HEAVY.test(name))).toEqual([]);
    expect(loaded.filter((name) => /node_modules/.test(name))).toEqual([]);
    const dist = loaded.filter((name) => /[\\/]dist[\\/]/.test(name)).map((name) => basename(name));
    expect(dist).toEqual(["bobbin.cjs", expect.stringMatching(/^bobbin\.cjs\..+\.cache$/)]);
  });
});

/**
 * The same for the second write to a socket: the first is the upgrade. On a busy machine a host may lose its patience
 * before a client comes, and be loaded without one: here it has much.
 */
const SOCKET_WITNESS = `const fs = require("node:fs");
const after = setTimeout;
globalThis.setTimeout = (run, ms, ...rest) => after(run, ms < 1000 ? ms * 1000 : ms, ...rest);
const { Socket } = require("node:net");
const { readFileSync } = fs;
const read = [];
fs.readFileSync = (path, ...rest) => {
  read.push(path);
  return readFileSync(path, ...rest);
};
const { write } = Socket.prototype;
let writes = 0;
Socket.prototype.write = function (...data) {
  if (this.remoteAddress !== undefined && ++writes === 2) {
    const loaded = [...process.moduleLoadList, ...Object.keys(require.cache), ...read];
    process.stderr.write(JSON.stringify({ loaded }) + "\\n");
  }
  return write.apply(this, data);
};`;

/** To listen, Node itself loads the first two. */
const OF_SOCKETS = /^NativeModule (child_process|dgram|crypto|fs\/promises|http)$/;

describe("a start on a socket", () => {
  it("loads neither the host nor other unneeded code before its first reply", async () => {
    const witness = join(await freshFolder("witness"), "witness.cjs");
    await writeFile(witness, SOCKET_WITNESS);
    const host = await spawnHost({
      args: ["--listen", "ws://127.0.0.1:0"],
      nodeArgs: ["--require", witness],
    });
    const client = await host.join();
    const line = () => host.stderr.split("\n").find((one) => one.startsWith('{"loaded"'));
    await eventually(() => line() !== undefined, "the witness has seen the reply");
    const { loaded } = JSON.parse(line()!) as { loaded: string[] };
    expect(loaded).toContain("NativeModule http");
    expect(loaded.filter((name) => HEAVY.test(name) && !OF_SOCKETS.test(name))).toEqual([]);
    expect(loaded.filter((name) => /node_modules/.test(name))).toEqual([]);
    const files = loaded.filter((name) => /[\\/]dist[\\/].*\.cjs$/.test(name)).map((name) => basename(name));
    expect(files).toEqual(["bobbin.cjs", expect.stringMatching(/^sockets-/), "ws.cjs"]);
    // The host is there for whatever comes next.
    expect(await client.call("thread/loaded/list")).toMatchObject({ data: [] });
  });
});
