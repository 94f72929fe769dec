// What a person sees who starts and stops the server in a terminal.
import { type ChildProcessWithoutNullStreams, execFileSync } from "node:child_process";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connectWebSocket } from "@bobbin/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { ended, ProgramUnderTest, type RunOptions } from "../../../../test/support/program-under-test.ts";

let program: ProgramUnderTest;
const children: ChildProcessWithoutNullStreams[] = [];
beforeAll(async () => {
  program = await ProgramUnderTest.build();
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await program.remove();
});

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
let homes = 0;

async function freshHome(): Promise<string> {
  const home = join(program.folder, `home-${homes++}`);
  await mkdir(home, { mode: 0o755 });
  return home;
}

interface Serving {
  readonly banner: string;
  readonly url: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Ends it with a signal, and gives what it wrote after the banner. */
  stop(): Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** Starts a server on a free port and reads what it shows. */
async function serve(home: string, options: RunOptions = {}, args: readonly string[] = []): Promise<Serving> {
  const child = program.start(["app-server", "--listen", "ws://127.0.0.1:0", ...args], {
    ...options,
    env: { BOBBIN_HOME: home, ...options.env },
  });
  children.push(child);
  const done = ended(child);
  let seen = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (text: string) => {
      seen += text;
      if (seen.includes("Ctrl-C stops it.") || /"msg":"not ready".*\n/.test(seen)) resolve();
    });
    child.on("close", () => reject(new Error(`it ended: ${seen}`)));
  });
  const banner = seen;
  return {
    banner,
    url: /ws:\/\/[\d.:]+/.exec(banner)![0],
    child,
    async stop() {
      child.kill("SIGINT");
      const { code, stderr } = await done;
      return { code, stderr: stderr.slice(banner.length).trim() };
    },
  };
}

const SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef";

describe("the banner", () => {
  it("says where it listens, where its home is, and what answers", async () => {
    const home = await freshHome();
    const { banner, url, stop } = await serve(home);
    expect(banner).toContain(
      `\n  Bobbin is listening.\n\n    address  ${url}\n    home     ${home}\n    model    offline: built in, needs no key and no network\n`,
    );
    expect(banner).toContain(`codex --remote ${url}`);
    await stop();
  });

  it("names an address and a token with which a client on this machine connects", async () => {
    const home = await freshHome();
    const file = join(home, "the token");
    await writeFile(file, SECRET, { mode: 0o600 });
    const auth = ["--ws-auth", "capability-token", "--ws-token-file", file];
    const { banner, url, stop } = await serve(home, {}, ["--listen", "ws://0.0.0.0:0", ...auth]);
    expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:/);
    expect(banner).toMatch(/address {2}ws:\/\/0\.0\.0\.0:\d+, and every other address of this machine\n/);
    expect(banner).toContain(
      `BOBBIN_TOKEN="$(cat '${file}')" \\\n      codex --remote ${url} --remote-auth-token-env BOBBIN_TOKEN\n`,
    );
    await stop();
    const secret = join(home, "secret");
    await writeFile(secret, SECRET, { mode: 0o600 });
    const signed = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", secret];
    const second = await serve(home, {}, [...signed, "--ws-issuer", "me"]);
    expect(second.banner).toContain(
      `BOBBIN_TOKEN="$(bin/bobbin token sign --host-user --secret-file ${secret} --issuer me)"`,
    );
    await second.stop();
  });

  it("[START-1] shows every mistake of config.toml, and keeps its indent", async () => {
    const home = await freshHome();
    await writeFile(join(home, "config.toml"), 'model = 3\nsandbox_mode = "no"\napproval_policy = 7\n');
    const { banner, stop } = await serve(home);
    const lines = banner.split("\n").filter((line) => /(model|sandbox_mode|approval_policy): /.test(line));
    expect(lines.filter((line) => /^( {4}✗ config | {13})\S/.test(line))).toHaveLength(3);
    await stop();
    await writeFile(join(home, "config.toml"), "[a\nb = = 3\n");
    const broken = await serve(home);
    expect(broken.banner).toMatch(
      / {4}✗ config .*Error parsing TOML.*\n {13}\S.*\n {13}\s*\^\n {13}\S.*\n {13}→ /,
    );
    await broken.stop();
  });

  it("[START-1] says that the home cannot be written to, and what to do", async () => {
    const home = await freshHome();
    await chmod(home, 0o555);
    // Nothing is read-only for root.
    const { banner, stop } = await serve(home, isRoot ? { uid: NOBODY } : {});
    expect(banner).toContain("Bobbin is listening, but is not ready.");
    expect(banner).toContain(
      `    ✗ home   ${home} is not writable\n             → Make it a writable folder, or set BOBBIN_HOME to one.\n`,
    );
    expect(banner).not.toContain("Three things to try");
    expect((await stop()).code).toBe(0);
  });

  it("creates a home that is not there yet, for its owner only", async () => {
    const home = join(await freshHome(), "a", "b");
    const { stop } = await serve(home);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    await stop();
  });

  it.each([
    ["a file that is no TOML", (path: string) => writeFile(path, "model = = 3\n"), /config\.toml: .+/],
    [
      "a file with a wrong value",
      (path: string) => writeFile(path, "model = 3\n"),
      /model: expected a string/,
    ],
    ["a folder", (path: string) => mkdir(path), /config\.toml cannot be read: it is a folder/],
  ])("[START-1] says that config.toml is %s, and what to do", async (_, make, why) => {
    const home = await freshHome();
    const path = join(home, "config.toml");
    await make(path);
    const { banner, stop } = await serve(home);
    expect(banner).toContain("Bobbin is listening, but is not ready.");
    expect(banner).toMatch(new RegExp(`✗ config +.*${why.source}`));
    expect(banner).toContain(`→ Correct ${path} and start again. No thread can be loaded until then.`);
    expect(banner).not.toContain("    model    ");
    expect((await stop()).code).toBe(0);
  });

  it("[START-1] says that a key is missing, or that no provider has the model", async () => {
    const home = await freshHome();
    const env = { OPENAI_API_KEY: "" };
    const keyless = await serve(home, { env }, ["-c", "model=gpt-5"]);
    expect(keyless.banner).toContain(
      "✗ model  gpt-5 needs a key for OpenAI, and OPENAI_API_KEY is not set\n",
    );
    await keyless.stop();
    const mystery = await serve(home, {}, ["-c", "model=mystery"]);
    expect(mystery.banner).toContain("✗ model  the provider offline has no model mystery\n");
    await mystery.stop();
  });

  it("is a log line for each problem when the log is for programs", async () => {
    const home = await freshHome();
    await writeFile(join(home, "config.toml"), "model = 3\n");
    const { banner, stop } = await serve(home, { env: { LOG_FORMAT: "json" } });
    const problem = banner.split("\n").find((line) => line.includes("not ready"));
    expect(JSON.parse(problem!)).toMatchObject({
      level: "warn",
      about: "config",
      found: "model: expected a string, found 3",
    });
    const { stderr } = await stop();
    const lines = stderr.split("\n").map((line) => JSON.parse(line));
    expect(lines.slice(-2)).toMatchObject([
      { msg: "stopping", threads: 0, turns: 0 },
      { msg: "stopped", closed: 0, parked: 0 },
    ]);
  });

  it("[START-5] comes with a warning about a LOG_LEVEL that is not known", async () => {
    const { banner, stop } = await serve(await freshHome(), { env: { LOG_LEVEL: "loud" } });
    expect(banner).toContain("LOG_LEVEL=loud is not one of debug, info, warn, error, silent; using info\n");
    await stop();
  });
});

describe("Ctrl-C", () => {
  it("[START-2] says that the server stops and how it ended", async () => {
    const { stop } = await serve(await freshHome());
    expect(await stop()).toEqual({
      code: 0,
      stderr: "Stopping. Ctrl-C again stops at once.\nStopped.",
    });
  });

  it("[START-2] says how many threads it closes, and how many turns run", async () => {
    const { url, stop } = await serve(await freshHome());
    const client = await connectWebSocket(url, { WebSocket });
    await client.initialize({ name: "test", version: "1" });
    await client.request("thread/start", {});
    const { thread } = await client.request("thread/start", {});
    const text = "Count to a hundred slowly, please, and leave nothing out.";
    await client.request("turn/start", { threadId: thread.id, input: [{ type: "text", text }] as never });
    const { stderr } = await stop();
    // Without the log lines about the client and the turn.
    const said = stderr.split("\n").filter((line) => !/^[\d:.]+ info {2}(client|turn) /.test(line));
    expect(said.join("\n")).toBe(
      "Stopping: 2 threads are loaded, 1 turn is running. Ctrl-C again stops at once.\n" +
        "Stopped: 2 threads closed.",
    );
    await client.close();
  });
});

describe("a second start on the same port", () => {
  it("[START-3] says that a Bobbin is there, with its home and its process", async () => {
    const home = await freshHome();
    const first = await serve(home);
    const port = Number(new URL(first.url).port);
    const second = await program.run(["app-server", "--listen", first.url]);
    expect(second.code).toBe(2);
    expect(second.stderr).toBe(
      `bobbin: a Bobbin (home ${home}, process ${first.child.pid}) is already listening on port ${port}; ` +
        `connect to it, stop it, or choose another port: bobbin app-server --listen ws://127.0.0.1:${port + 1}\n`,
    );
    await first.stop();
  });

  it("knows a Bobbin also when that asks for a token, and says less of it then", async () => {
    const file = join(program.folder, "token");
    await writeFile(file, "an-example-of-a-long-enough-capability-token\n");
    const auth = ["--ws-auth", "capability-token", "--ws-token-file", file];
    const first = await serve(await freshHome(), {}, auth);
    const { stderr } = await program.run(["app-server", "--listen", first.url]);
    expect(stderr).toMatch(/^bobbin: a Bobbin is already listening on port \d+; /);
    await first.stop();
  });

  it("says that another program has it", async () => {
    const other = createServer((_request, response) => response.end("ok\n"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await program.run(["app-server", "--listen", `ws://127.0.0.1:${port}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("is taken by another program")]);
    other.close();
  });
});

describe("a home that can hold nothing", () => {
  it.runIf(process.platform === "linux")(
    "[START-4] is refused at once where no folder can be made",
    async () => {
      const env = { BOBBIN_HOME: "/proc/bobbin" };
      const { code, stderr } = await program.run(["exec", "hi"], { env });
      expect(code).toBe(1);
      expect(stderr).toContain("/proc/bobbin cannot be created: ENOENT");
      expect(stderr).toContain(
        "Make it a writable folder, or set BOBBIN_HOME to one. With --ephemeral nothing is",
      );
      expect((await program.run(["exec", "--ephemeral", "hi"], { env })).code).toBe(0);
      const { banner, stop } = await serve("/proc/bobbin");
      expect(banner).toContain("✗ home   /proc/bobbin cannot be created: ENOENT");
      await stop();
    },
  );
});

describe("in a terminal", () => {
  const hasScript = process.platform === "linux" && canRun("script", "--version");

  it.runIf(hasScript)("says on stdio what it waits for, and ends with Ctrl-D", async () => {
    const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(program.path)} app-server`;
    const shown = execFileSync("script", ["-qec", command, "/dev/null"], {
      encoding: "utf8",
      input: "\x04",
      env: { ...process.env, BOBBIN_HOME: await freshHome() },
    });
    expect(shown).toContain(
      "Waiting for protocol messages on stdin, one JSON object per line. Ctrl-D ends it.",
    );
  });
});

function canRun(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
