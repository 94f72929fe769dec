import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../../../test/support/sandbox-here.ts";
import { TEST_CERTIFICATE } from "../../../../../test/support/test-certificate.ts";
import { pinoLog } from "../../observe/log.ts";
import { Supervisor } from "../../observe/supervise.ts";
import { nodePlatform } from "../../platform/node.ts";
import type { Platform, ProgramExit, RunningProgram } from "../../platform/platform.ts";
import { type ConfinedCommand, createSandbox, type Sandbox } from "../sandbox.ts";
import { CommandNetwork } from "./command-network.ts";
import type { DomainRule } from "./host-rules.ts";
import type { ProxyPorts, Verdict } from "./proxy.ts";
import type { Target } from "./proxy-request.ts";

let folder: string;
let workspace: string;
let platform: Platform;
let sandbox: Sandbox;
let server: Server;
let port: number;
let domains: DomainRule[];
let asked: Target[];
let refused: string[];
let judge: (target: Target) => Promise<Verdict>;
let requests: string[];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "bobbin-network-")));
  workspace = join(folder, "workspace");
  await mkdir(workspace);
  await mkdir(join(folder, "home"));
  platform = nodePlatform();
  domains = [{ pattern: "127.0.0.1", access: "allow" }];
  [asked, refused, requests] = [[], [], []];
  judge = async () => ({ kind: "allow" });
  sandbox = createSandbox({
    platform,
    home: join(folder, "home"),
    networkHosts: () => ({ domains, socks: true }),
  });
  server = createServer((request, reply) => {
    requests.push(`${request.method} ${request.url} ${request.headers.host}`);
    request.resume().on("end", () => reply.end("hello from outside\n"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await rm(folder, { recursive: true, force: true });
});

interface Ran extends ProgramExit {
  readonly output: string;
}

/** Runs a shell script with network access by host. */
async function run(
  script: string,
  { tty = false, ports = {} }: { tty?: boolean; ports?: Partial<ProxyPorts> } = {},
): Promise<Ran> {
  const { running, ended } = await start(script, { tty, ports });
  let output = "";
  for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
  const exit = await running.exited;
  await ended();
  return { ...exit, output };
}

interface StartOptions {
  readonly tty?: boolean;
  readonly ports?: Partial<ProxyPorts>;
  readonly confined?: Partial<ConfinedCommand>;
}

async function start(
  script: string,
  { tty = false, ports = {}, confined: how = {} }: StartOptions = {},
): Promise<{ readonly running: RunningProgram; ended(): Promise<void> }> {
  const confined = await sandbox.confine({
    program: {
      argv: ["/bin/sh", "-c", script],
      cwd: workspace,
      env: { PATH: process.env.PATH!, HOME: folder, PORT: String(port) },
      stdin: "open",
      ...(tty && { tty: { cols: 80, rows: 24 } }),
    },
    policy: { type: "workspaceWrite", networkAccess: true },
    roots: [workspace],
    gitWritable: false,
    byHost: true,
    ...how,
  });
  if (confined.kind === "unavailable") throw new Error(confined.reason);
  const running = await platform.spawn(confined.program);
  const network = new CommandNetwork(
    {
      platform,
      supervisor: new Supervisor(pinoLog({ level: "silent", format: "text", write() {} })),
      socks: true,
      judge: async (target) => {
        asked.push(target);
        return judge(target);
      },
      isListed: async (host) => domains.some(({ pattern }) => pattern === host),
      refused: (_, words) => void refused.push(words),
      ...ports,
    },
    running.channel!,
  );
  return {
    running,
    async ended() {
      network.close();
      await confined.release();
    },
  };
}

describe.runIf(hasSandbox)("a command with the network by host", () => {
  it("[NETWORK-1] reaches an allowed host with curl, by HTTP, CONNECT and SOCKS, and nothing else", async () => {
    const { output, code } = await run(
      'curl -sS http://127.0.0.1:$PORT/a; curl -sS -p http://127.0.0.1:$PORT/b; curl -sS --proxy socks5h://127.0.0.1:3128 http://127.0.0.1:$PORT/c; curl -sS --noproxy "*" -m 2 http://127.0.0.1:$PORT/d',
    );
    expect(output.match(/hello from outside/g)).toHaveLength(3);
    expect(output).toContain("Failed to connect");
    expect(code).not.toBe(0);
    expect(asked.map(({ protocol }) => protocol)).toEqual(["http", "https", "socks5Tcp"]);
    expect(requests).toEqual(["a", "b", "c"].map((path) => `GET /${path} 127.0.0.1:${port}`));
  });

  it("[NETWORK-6] keeps its exit code, also that of a signal", async () => {
    expect(await run("exit 7")).toMatchObject({ code: 7, output: "" });
    expect((await run("kill -TERM $$")).code).toBe(128 + 15);
  });

  it("[NETWORK-6] has no child, no descriptor and no variable that it did not have before", async () => {
    const { output } = await run(
      'grep -l "^PPid:.$$$" /proc/[0-9]*/status 2>/dev/null | wc -l; ls /proc/self/fd | tr "\\n" " "; echo; env | grep -E "^(ready|node|bridge)=" | wc -l',
    );
    const [children, descriptors, variables] = output.trim().split("\n");
    // Not counted: `grep` and `wc` themselves.
    expect(Number(children)).toBeLessThanOrEqual(2);
    // Descriptor 3 is the folder that is being listed.
    expect(descriptors).not.toMatch(/\b[4-9]\b/);
    expect(variables).toBe("0");
  });

  it("[NETWORK-6] reads its own input", async () => {
    const { running, ended } = await start("cat; curl -sS http://127.0.0.1:$PORT/");
    await running.write(Buffer.from("typed\n"));
    running.endInput();
    let output = "";
    for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
    await running.exited;
    await ended();
    expect(output).toBe("typed\nhello from outside\n");
  });

  it("[NETWORK-6] has its own terminal, in which Ctrl-C reaches it and not the bridge", async () => {
    const { running, ended } = await start(
      'trap "echo caught" INT; tty; echo waiting; read x; curl -sS http://127.0.0.1:$PORT/; exit 3',
      { tty: true },
    );
    let output = "";
    let pressed = 0;
    for await (const { bytes } of running.output) {
      output += new TextDecoder().decode(bytes);
      if (pressed === 0 && output.includes("waiting")) {
        pressed++;
        await running.write(Buffer.from("\u0003"));
      } else if (pressed === 1 && output.includes("caught")) {
        pressed++;
        await running.write(Buffer.from("\n"));
      }
    }
    const { code } = await running.exited;
    await ended();
    expect(output).toMatch(/\/dev\/(pts\/|console|tty)/);
    expect(output).toContain("caught");
    expect(output).toContain("hello from outside");
    expect(code).toBe(3);
  });

  it("passes on more than any buffer holds, in both directions, while the other side is slow", async () => {
    const megabytes = 8;
    const slow = createServer((request, reply) => {
      let bytes = 0;
      request.on("data", (piece: Buffer) => {
        bytes += piece.length;
      });
      request.on("end", () => {
        reply.write(`${bytes}\n`);
        reply.end(Buffer.alloc(megabytes * 1024 * 1024, "x"));
      });
    });
    await new Promise<void>((done) => slow.listen(0, "127.0.0.1", done));
    const at = (slow.address() as AddressInfo).port;
    const { output } = await run(
      `head -c ${megabytes * 1024 * 1024} /dev/zero | curl -sS -T - http://127.0.0.1:${at}/ | (read n; sleep 0.3; echo $n; wc -c)`,
    );
    slow.closeAllConnections();
    slow.close();
    expect(output.trim().split(/\s+/).map(Number)).toEqual([
      megabytes * 1024 * 1024,
      megabytes * 1024 * 1024,
    ]);
  });

  it("gives back a reason in plain words for what it refuses or cannot do", async () => {
    judge = async () => ({ kind: "refuse", words: "Nobody allowed it." });
    const { output } = await run(
      [
        "curl -sS http://127.0.0.1:$PORT/",
        "curl -sS -p http://127.0.0.1:$PORT/",
        "curl -sS --socks5-hostname 127.0.0.1:3128 http://127.0.0.1:$PORT/",
        "curl -sS http://10.0.0.1/",
        "curl -sS --noproxy '*' http://127.0.0.1:3128/",
        "printf 'nonsense\\r\\n\\r\\n' | curl -sS --http0.9 telnet://127.0.0.1:3128",
      ].join("; "),
    );
    expect(output).toMatch(/^Nobody allowed it\.$/m);
    expect(output).toContain("403");
    expect(output).toMatch(/SOCKS5/i);
    expect(output).toContain("The connection to 10.0.0.1 was refused");
    expect(output).toContain("This is a proxy");
    expect(requests).toEqual([]);
    expect(new Set(refused).size).toBe(2);
  });

  it("serves 128 connections at once, and ends those beyond", async () => {
    let [waiting, most] = [0, 0];
    let release!: () => void;
    const released = new Promise<void>((done) => {
      release = done;
    });
    judge = async () => {
      most = Math.max(most, ++waiting);
      await released;
      return { kind: "allow" };
    };
    const script = `
      let ended = 0, answered = 0;
      for (let n = 0; n < 140; n++) {
        const s = require("net").connect(3128, "127.0.0.1");
        s.write("CONNECT 127.0.0.1:" + process.env.PORT + " HTTP/1.1\\r\\n\\r\\n");
        let got = false;
        s.on("data", () => { got = true; answered++; s.destroy(); check(); });
        s.on("close", () => { if (!got) { ended++; check(); } });
        s.on("error", () => {});
      }
      function check() {
        if (ended === 12) console.log("full");
        if (ended + answered === 140) console.log(answered, ended);
      }
    `;
    const { running, ended } = await start(`${process.execPath} -e '${script}'`);
    let output = "";
    for await (const { bytes } of running.output) {
      output += new TextDecoder().decode(bytes);
      if (output.includes("full")) release();
    }
    await ended();
    expect(output.trim().split("\n").at(-1)).toBe("128 12");
    expect(most).toBe(128);
  });

  it("is not hurt by a program that writes nonsense where only the bridge writes", async () => {
    // The bridge runs inside the sandbox, so a command can use the bridge's descriptors in its place.
    const { output, code } = await run(
      `for d in /proc/[0-9]*/fd/6; do head -c 100000 /dev/urandom > $d; done 2>/dev/null; curl -sS -m 5 http://127.0.0.1:$PORT/; echo over`,
    );
    expect(output).toContain("over");
    expect(code).toBe(0);
  });

  it("[NETWORK-1] passes TLS on as it is, also of a program in Node", async () => {
    const secure = createSecureServer(TEST_CERTIFICATE, (_, reply) => reply.end("secret\n"));
    await new Promise<void>((done) => secure.listen(0, "127.0.0.1", done));
    const at = (secure.address() as AddressInfo).port;
    await writeFile(join(workspace, "ca.pem"), TEST_CERTIFICATE.cert);
    const node = `
      const socket = require("net").connect(3128, "127.0.0.1");
      socket.write("CONNECT 127.0.0.1:${at} HTTP/1.1\\r\\n\\r\\n");
      socket.once("data", () => {
        const ca = require("fs").readFileSync("ca.pem");
        const secure = require("tls").connect({ socket, host: "127.0.0.1", ca });
        secure.write("GET / HTTP/1.0\\r\\n\\r\\n");
        let text = "";
        secure.on("data", (bytes) => (text += bytes));
        secure.on("end", () => process.stdout.write(text.split("\\r\\n\\r\\n")[1]));
      });
    `;
    const { output } = await run(
      `curl -sS --cacert ca.pem https://127.0.0.1:${at}/; ${process.execPath} --no-warnings -e '${node}'`,
    );
    secure.closeAllConnections();
    secure.close();
    expect(output).toBe("secret\nsecret\n");
    expect(asked).toEqual([1, 2].map(() => ({ host: "127.0.0.1", port: at, protocol: "https" })));
  });

  it("[NETWORK-1] leads git over SSH through the proxy", async () => {
    const lines = createPlainServer((socket) => socket.on("data", (bytes) => socket.end(`heard ${bytes}`)));
    await new Promise<void>((done) => lines.listen(0, "127.0.0.1", done));
    const at = (lines.address() as AddressInfo).port;
    // Runs the proxy command as ssh would.
    const script = [
      'eval "set -- $GIT_SSH_COMMAND"',
      'command=$(printf %s "$3" | sed -e "s/^ProxyCommand=//" -e "s/%h/127.0.0.1/" -e "s/%p/$AT/")',
      'printf "SSH-2.0-x" | sh -c "exec $command"',
    ].join("; ");
    expect(await run(`AT=${at}; ${script}`)).toMatchObject({ code: 0, output: "heard SSH-2.0-x" });
    judge = async () => ({ kind: "refuse", words: "Nobody allowed it." });
    expect(await run(`AT=${at}; ${script}`)).toMatchObject({ code: 1, output: "Nobody allowed it.\n" });
    lines.close();
  });

  it("[NETWORK-1] works where a command sees its own folders and programs only", async () => {
    const { running, ended } = await start("curl -sS http://127.0.0.1:$PORT/", {
      confined: { within: [workspace] },
    });
    let output = "";
    for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
    await ended();
    expect(output).toContain("hello from outside");
  });
});
