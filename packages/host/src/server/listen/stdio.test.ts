import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { Frame } from "@bobbin/rpc";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { LinkRecording } from "../../../../../test/support/link-recording.ts";
import { listenStdio } from "./stdio.ts";

async function joined() {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const recording = new LinkRecording();
  const listener = listenStdio({ accept: recording.accept, stdin, stdout });
  return { stdin, stdout, listener, server: await recording.next() };
}

describe("stdio", () => {
  it("reads lines and writes lines", async () => {
    const { stdin, stdout, server, listener } = await joined();
    expect(listener.url).toBe("stdio://");
    expect(server.meta).toEqual({ transport: "stdio", principal: { kind: "local" } });
    stdin.write('{"a":"\u2028"}\r\n\n{"b"');
    stdin.write(":2}\n");
    await server.until('{"b":2}');
    expect(server.told).toEqual(['{"a":"\u2028"}', '{"b":2}']);
    server.link.send(new Frame("1", "2"));
    expect(String((await once(stdout, "data"))[0])).toBe("1\n2\n");
  });

  it("reports lines that are no UTF-8 and goes on", async () => {
    const { stdin, server } = await joined();
    stdin.write(Buffer.from([0xff, 0x0a]));
    stdin.write("fine\n");
    await server.until("fine");
    expect(server.told).toEqual(["undecodable", "fine"]);
  });

  it("tells the end of stdin after the last line, and still writes replies", async () => {
    const { stdin, stdout, server } = await joined();
    stdin.end("one\nlast without an end");
    await server.until("closed");
    expect(server.told).toEqual(["one", "last without an end", "closed"]);
    server.link.send(new Frame("reply"));
    await server.link.close("normal");
    expect(String(stdout.read())).toBe("reply\n");
    expect(stdout.writableFinished).toBe(true);
    expect(server.told.filter((told) => told === "closed")).toHaveLength(1);
  });

  it("shows what nobody reads as backlog, and tells when it is gone", async () => {
    const { stdout, server } = await joined();
    const frame = new Frame("x".repeat(100_000));
    for (let sent = 0; sent < 10; sent++) server.link.send(frame);
    expect(server.link.backlog).toBeGreaterThan(800_000);
    expect(server.told).toEqual([]);
    stdout.resume();
    await server.until("drained");
    expect(server.link.backlog).toBe(0);
  });

  it("stops reading while paused", async () => {
    const { stdin, server } = await joined();
    server.link.pause();
    stdin.write("waits\n");
    await new Promise(setImmediate);
    expect(server.told).toEqual([]);
    server.link.resume();
    await server.until("waits");
  });

  it("gives up on a reader that does not read when the grace is over", async () => {
    const { server, listener } = await joined();
    server.link.send(new Frame("x".repeat(1_000_000)));
    await server.link.close("shutdown", 10);
    expect(server.told).toEqual(["closed"]);
    await listener.close(0);
  });

  it("closes with a listener whose grace is over", async () => {
    const { server, listener } = await joined();
    const closed = listener.close(60_000);
    expect(server.told).toEqual([]);
    await Promise.all([closed, listener.close(0)]);
    expect(server.told).toEqual(["closed"]);
    server.link.send(new Frame("late"));
  });
});

describe("stdio of a real process", () => {
  let program: string;
  beforeAll(async () => {
    // Echoes each line, says on stderr what else it is told, and leaves when its client does.
    const built = await build({
      stdin: {
        contents: `import { listenStdio } from "./stdio.ts"; import { Frame } from "@bobbin/rpc";
          let flood = 0;
          const beat = setInterval(() => flood && process.stderr.write("alive\\n"), 20);
          const listener = listenStdio({ accept: (link) => ({
            message(text) {
              if (text === "flood") { flood = 1; for (let i = 0; i < 200; i++) link.send(new Frame("x".repeat(100000))); }
              else link.send(new Frame(text.length > 1000 ? String(text.length) : text));
            },
            oversized(bytes) { link.send(new Frame("oversized " + bytes)); },
            undecodable() {}, drained() {},
            closed() { link.close("normal", 1000).then(() => { clearInterval(beat); process.stderr.write("closed\\n"); }); },
          }) });`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
        loader: "ts",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      write: false,
      metafile: true,
    });
    program = built.outputFiles[0]!.text;
    const loaded = Object.keys(built.metafile.inputs).join(" ");
    // Modules that a start on stdio must not load.
    expect(loaded).not.toMatch(/node_modules\/ws\//);
    expect(program).not.toMatch(/from "(node:)?https?"/);
  });

  function start(): ChildProcess {
    return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "pipe" });
  }

  async function read(child: ChildProcess, lines: number): Promise<string[]> {
    let text = "";
    child.stdout!.setEncoding("utf8");
    while (text.split("\n").length <= lines) text += (await once(child.stdout!, "data"))[0];
    return text.trimEnd().split("\n");
  }

  it("reads a line of 64 MiB, skips a longer one and goes on", async () => {
    const child = start();
    const limit = 64 * 1024 * 1024;
    child.stdin!.write(Buffer.alloc(limit, "x"));
    child.stdin!.write("\n");
    child.stdin!.write(Buffer.alloc(limit + 5, "y"));
    child.stdin!.write("\nafter\n");
    expect(await read(child, 3)).toEqual([String(limit), `oversized ${limit + 5}`, "after"]);
    child.stdin!.end();
    expect((await once(child, "exit"))[0]).toBe(0);
  });

  it("ends with code 0 when stdin does, and loses no reply", async () => {
    const child = start();
    const sent = Array.from({ length: 2_000 }, (_, at) => `{"n":${at},"pad":"${"x".repeat(200)}"}`);
    child.stdin!.end(sent.join("\n"));
    const exited = once(child, "exit");
    expect(await read(child, sent.length)).toEqual(sent);
    expect((await exited)[0]).toBe(0);
  });

  it("does not crash when nobody reads its stdout any more", async () => {
    const child = start();
    let errors = "";
    child.stderr!.on("data", (chunk) => {
      errors += chunk;
    });
    child.stdout!.destroy();
    child.stdin!.on("error", () => {});
    child.stdin!.write("flood\n");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(errors.replaceAll("alive\n", "")).toBe("closed\n");
  });

  it("goes on with other work while a client does not read", async () => {
    const child = start();
    child.stdin!.write("flood\n");
    // The child's pipe is full by far; a write that waited for it would stop its timers.
    let beats = "";
    while (beats.split("alive").length < 4) beats += (await once(child.stderr!, "data"))[0];
    child.kill("SIGKILL");
    await once(child, "exit");
  });
});
