// The same tool server where people run theirs besides Node: each runtime as it is published, with a real host.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { ensureClient, goWithout } from "../clients/install.ts";
import { eventually } from "../support/eventually.ts";
import { responses } from "../support/mock-model.ts";
import { call, outputs, rapStage, say } from "../support/rap-stage.ts";

interface Runtime {
  /** The package with its program for this machine, or undefined where there is none. */
  readonly program: { readonly package: string; readonly path: string } | undefined;
  /** How the module becomes a server that says on which port it listens. */
  readonly listen: string;
  /** What it is started with. */
  args(folder: string): Promise<readonly string[]>;
}

const PORT = /"port":\s*(\d+)/;
const { platform, arch } = process;
const machine = `${platform}-${arch}`;
const folder = await mkdtemp(join(tmpdir(), "bobbin-runtimes-"));
const running: ChildProcess[] = [];

afterAll(async () => {
  for (const one of running) one.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const WORKER = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "tools", worker = (
      modules = [(name = "server", esModule = embed "server.mjs")],
      compatibilityDate = "2026-10-01",
      globalOutbound = "network"
    )),
    (name = "network", network = (allow = ["public", "private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "tools")]
);
`;

const runtimes: Record<string, Runtime> = {
  Bun: {
    program:
      machine.startsWith("linux-") || machine.startsWith("darwin-")
        ? {
            package: `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : "x64-baseline"}@1.4.4`,
            path: "bin/bun",
          }
        : undefined,
    listen: `
      const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: server.fetch });
      console.log(JSON.stringify({ port }));
    `,
    args: async (place) => ["run", join(place, "server.mjs")],
  },
  Deno: {
    program: {
      package: `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}@2.9.6`,
      path: "deno",
    },
    listen: `
      const onListen = ({ port }) => console.log(JSON.stringify({ port }));
      Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, server.fetch);
    `,
    args: async (place) => ["run", "--allow-net", join(place, "server.mjs")],
  },
  Workers: {
    program: {
      package: `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : "arm64"}@1.20261104.1`,
      path: "bin/workerd",
    },
    listen: "export default { fetch: server.fetch };",
    args: async (place) => {
      await writeFile(join(place, "config.capnp"), WORKER);
      return ["serve", join(place, "config.capnp"), "--control-fd=1"];
    },
  },
};

const TOKEN = "a-token-that-is-long-enough";

/** Counts within a thread; and a call that ends when it is told to. */
const SERVER = `
  import { bearer, createToolServer, tool } from "../../packages/rap/src/server/index.ts";
  const count = tool({
    name: "count",
    description: "Counts the calls of a thread.",
    async run(_args, ctx) {
      const open = () => ({ calls: 0 });
      const counter = await ctx.thread.resource("counter", open, ({ calls }) => console.log("closed after " + calls));
      counter.calls++;
      return "call " + counter.calls;
    },
  });
  const wait = tool({
    name: "wait",
    description: "Waits for the end.",
    run: (_args, { signal }) => new Promise((resolve) => {
      console.log("waiting");
      signal.addEventListener("abort", () => { console.log("stopped"); resolve("stopped"); });
    }),
  });
  const server = createToolServer({ name: "portable", auth: bearer("${TOKEN}"), tools: [count, wait] });
`;

async function start(
  name: string,
  { program, listen, args }: Runtime,
): Promise<{ url: string; said(): string } | undefined> {
  const installed =
    program && (await ensureClient(`runtime-${program.package.replaceAll(/[@/]/g, "-")}`, [program.package]));
  if (installed === undefined) return undefined;
  const place = await mkdtemp(join(folder, "server-"));
  await build({
    stdin: { contents: SERVER + listen, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["node:*"],
    outfile: join(place, "server.mjs"),
  });
  const bin = join(installed, "node_modules", program!.package.replace(/@[^@]+$/, ""), program!.path);
  const child = spawn(bin, await args(place), { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (said += String(bytes)));
  await eventually(() => PORT.test(said) || child.exitCode !== null, `${name} listens`);
  expect(child.exitCode, said).toBeNull();
  return { url: `http://127.0.0.1:${PORT.exec(said)![1]}`, said: () => said };
}

describe.each(Object.entries(runtimes))("a tool server on %s", (name, runtime) => {
  it("accepts calls, returns results, stops interrupted calls and frees the data of a closed thread", async (test) => {
    const server = await start(name, runtime);
    if (server === undefined) {
      goWithout(name, `it cannot be installed for ${machine}`);
      return test.skip("npm has no program of it for this machine");
    }
    const count = (id: string) => call(responses.call("count", "{}", id));
    const replies = [
      count("a"),
      count("b"),
      say("two"),
      call(responses.call("wait", "{}", "c")),
      say("stopped"),
      count("d"),
      say("one"),
    ];
    const { client, model, threadId } = await rapStage(replies, {
      servers: { portable: server as never },
      lines: ['bearer_token_env_var = "TOOLS_TOKEN"'],
      env: { TOOLS_TOKEN: TOKEN },
    });
    await client.turn(threadId, "count twice");
    expect([outputs(model, 1), outputs(model, 2)]).toEqual([["call 1"], ["call 1", "call 2"]]);

    const turnId = await client.say(threadId, "wait");
    await eventually(() => server.said().includes("waiting"), "the call waits");
    await client.call("turn/interrupt", { threadId, turnId });
    await eventually(() => server.said().includes("stopped"), "the call was stopped");
    await client.turn(threadId, "and now?");

    await client.call("thread/unload", { threadId });
    await eventually(() => server.said().includes("closed after 2"), "what the thread had is closed");
    await client.call("thread/resume", { threadId });
    await client.turn(threadId, "count again");
    expect(outputs(model, 6).at(-1)).toBe("call 1");
    // No warning of the runtime, and nothing that failed behind an answer.
    expect(server.said().trim().split("\n").slice(1)).toEqual(["waiting", "stopped", "closed after 2"]);
    // Whoever has no token gets nothing.
    expect((await fetch(`${server.url}/close_thread`, { method: "POST", body: "{}" })).status).toBe(401);
  });
});
