import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MockModel, refuse } from "../../../../test/support/mock-model.ts";
import { ProgramUnderTest, type RunOptions } from "../../../../test/support/program-under-test.ts";
import { FakeToolServer, status } from "../../../../test/support/tool-server.ts";
import { listenWebSocket } from "../server/listen/websocket.ts";
import { nodeFinding } from "./doctor-basic-checks.ts";
import { checkAll, type Finding } from "./doctor-check-runner.ts";
import { portFinding } from "./doctor-port.ts";

let program: ProgramUnderTest;
beforeAll(async () => {
  program = await ProgramUnderTest.build();
});
afterAll(() => program.remove());

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** The findings by name. */
async function doctor(options: RunOptions = {}, args: readonly string[] = []) {
  const { code, stdout } = await program.run(["doctor", "--json", ...args], options);
  const report = JSON.parse(stdout) as { ok: boolean; checks: Finding[] };
  expect(report.ok).toBe(code === 0);
  return { code, ...Object.fromEntries(report.checks.map((finding) => [finding.name, finding])) } as Record<
    string,
    Finding
  > & { code: number };
}

/** A folder for PATH with scripts in it, by name. */
async function path(name: string, scripts: Record<string, string>): Promise<string> {
  const folder = join(program.folder, name);
  await mkdir(folder);
  await symlink("/bin/sh", join(folder, "sh"));
  for (const [command, script] of Object.entries(scripts)) {
    await writeFile(join(folder, command), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, command), 0o755);
  }
  return folder;
}

describe("bobbin doctor", () => {
  it("finds a bare machine ready, and leaves nothing behind", async () => {
    const before = await readdir(program.folder);
    const home = join(program.folder, "some", "where");
    const { code, node, config, model, ...found } = await doctor({ env: { BOBBIN_HOME: home } });
    expect(code).toBe(0);
    expect(found.home).toEqual({
      name: "home",
      status: "ok",
      found: `${home} (created when it is first needed)`,
    });
    expect([node?.status, config?.status, model?.status]).toEqual(["ok", "ok", "ok"]);
    expect(await readdir(program.folder)).toEqual(before);
  });

  it("refuses a home in which no lock can be opened, because its path is too long", async () => {
    const home = join(program.folder, ...Array.from({ length: 9 }, () => "x".repeat(100)));
    const { code, home: finding } = await doctor({ env: { BOBBIN_HOME: home } });
    expect(code).not.toBe(0);
    expect(finding).toMatchObject({ status: "failed", found: expect.stringContaining("is too long") });
  });

  it("shows people aligned lines with a mark each", async () => {
    const { code, stdout } = await program.run(["doctor"]);
    expect(code).toBe(0);
    const shown = stdout.split("\n").filter((line) => /^ {2}[✓!✗] /.test(line));
    expect(shown.map((line) => line.slice(4, 17).trim())).toEqual([
      "node",
      "home",
      "config",
      "keys",
      "credentials",
      "model",
      "tools",
      "mcp",
      "environment",
      "sandbox",
      "port",
      "git",
    ]);
    expect(stdout).toMatch(/(Everything works|Ready, with .* warnings?)\.\n\n$/);
  });

  it("says that a home is a file, or cannot be created", async () => {
    const file = join(program.folder, "bobbin.cjs");
    const asFile = await doctor({ env: { BOBBIN_HOME: file } });
    expect(asFile.code).toBe(1);
    expect(asFile.home).toMatchObject({ status: "failed", found: `${file} is not a folder` });
    const below = await doctor({ env: { BOBBIN_HOME: join(file, "home") } });
    expect(below.home?.found).toContain("cannot be created: ENOTDIR");
  });

  it("says that a home is read-only", async () => {
    const home = join(program.folder, "read-only");
    await mkdir(home);
    await chmod(home, 0o555);
    // Nothing is read-only for root.
    const options = { env: { BOBBIN_HOME: home }, ...(isRoot && { uid: NOBODY }) };
    const { code, home: found } = await doctor(options);
    expect(code).toBe(1);
    expect(found).toEqual({
      name: "home",
      status: "failed",
      found: `${home} is not writable`,
      advice: "Make it a writable folder, or set BOBBIN_HOME to one.",
    });
  });

  it("says what is wrong in config.toml, and that the model is not known then", async () => {
    const home = join(program.folder, "broken");
    await mkdir(home);
    await writeFile(join(home, "config.toml"), 'model = "x\n');
    const { code, config, model } = await doctor({ env: { BOBBIN_HOME: home } });
    expect(code).toBe(1);
    expect(config?.found).toContain("config.toml: ");
    expect(config?.advice).toContain(join(home, "config.toml"));
    expect(model?.status).toBe("failed");
  });

  it("says that a key is missing, or that no provider has the model", async () => {
    const keyless = await doctor({ env: { OPENAI_API_KEY: "" } }, ["-c", "model_provider=openai"]);
    expect(keyless.code).toBe(1);
    expect(keyless.model).toMatchObject({
      found: expect.stringContaining("OPENAI_API_KEY is not set"),
      advice: expect.stringMatching(/^Set the environment variable OPENAI_API_KEY .* bobbin login /),
    });
    const { model } = await doctor({}, ["-c", "model_provider=offline", "-c", "model=gpt-5"]);
    expect(model).toMatchObject({ status: "failed", found: "the provider offline has no model gpt-5" });
  });

  it("says that a model provider is not known, and names those that are", async () => {
    const { code, model } = await doctor({}, ["-c", "model_provider=nope"]);
    expect(code).toBe(1);
    expect(model).toMatchObject({
      found: "the model provider nope is not known",
      advice: "Set model_provider to one of these: offline, openai, anthropic, ollama, lmstudio.",
    });
  });

  it("asks the model's server whether it is there and takes the key", async () => {
    const server = await MockModel.start(refuse(404, "no such page"), refuse(401, "no"));
    const args = ["-c", "model=m", "-c", `model_providers.mine.base_url=${JSON.stringify(server.url)}`];
    expect((await doctor({}, args)).model).toMatchObject({ status: "ok", found: "m (mine)" });
    const refused = await doctor({}, args);
    expect(refused.code).toBe(1);
    expect(refused.model?.found).toContain("did not accept the key (HTTP 401");
    await server.close();
    expect((await doctor({}, args)).model?.found).toContain(`cannot be reached at ${server.url}/models`);
  });

  it("warns of a tool server that is down, or that does not accept the token, and says what to do", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const args = ["-c", `rap_servers.desk.url=${server.url}`];
    expect((await doctor({}, args)).tools).toEqual({ name: "tools", status: "ok", found: "desk" });
    server.on.set("/.well-known/rap-toolset", status(401));
    const { code, tools } = await doctor({}, [...args, "-c", "rap_servers.desk.bearer_token_env_var=DESK"]);
    expect(code).toBe(0);
    expect(tools).toEqual({
      name: "tools",
      status: "warning",
      found: `desk at ${server.url}: it does not accept the credentials (status 401)`,
      advice: "Set the environment variable DESK to the server's token.",
    });
    await server.close();
    expect((await doctor({}, args)).tools?.advice).toBe(
      `Start the server, or correct the url ${server.url} of desk.`,
    );
  });

  it("[ENV-5] names the variables that commands do not get, with the line that passes them on", async () => {
    const env = { GH_TOKEN: "x", DESK: "x", SHELL: "/bin/sh", HOME: program.folder };
    const desk = ["-c", "rap_servers.desk.bearer_token_env_var=DESK"];
    const args = ["-c", "rap_servers.desk.url=http://127.0.0.1:1", ...desk];
    expect((await doctor({ env }, args)).environment).toEqual({
      name: "environment",
      status: "ok",
      found: "from /bin/sh -l; removed for commands: DESK, GH_TOKEN",
      advice: 'To pass them on, add to config.toml: shell_environment_policy.allow = ["GH_TOKEN"]',
    });
    const allow = ["-c", 'shell_environment_policy.allow=["GH_TOKEN"]'];
    const { environment } = await doctor({ env }, [...args, ...allow]);
    expect(environment?.found).toBe("from /bin/sh -l; removed for commands: DESK");
    expect(environment?.advice).toBeUndefined();
  });

  it("warns of a login shell that does not say what the environment is", async () => {
    const { code, environment } = await doctor({ env: { SHELL: "/bin/false" } });
    expect(code).toBe(0);
    expect(environment).toMatchObject({
      status: "warning",
      found: expect.stringContaining("commands get the host's own environment: /bin/false -l ended with 1"),
    });
  });

  it("only warns when git and the sandbox are missing", async () => {
    const { code, git, sandbox } = await doctor({ env: { PATH: await path("empty", {}) } });
    expect(code).toBe(0);
    expect(git).toMatchObject({ status: "warning", found: "not found" });
    expect(sandbox?.status).toBe("warning");
  });

  it.runIf(process.platform === "linux")("tries whether bubblewrap starts", async () => {
    const version = 'if [ "$1" = --version ]; then echo "bubblewrap 0.11.0"; exit 0; fi';
    const works = await path("works", { bwrap: version });
    expect((await doctor({ env: { PATH: works } })).sandbox).toEqual({
      name: "sandbox",
      status: "ok",
      found: "bubblewrap 0.11.0",
    });
    const fails = await path("fails", { bwrap: `${version}\necho "bwrap: No permissions" >&2; exit 1` });
    expect((await doctor({ env: { PATH: fails } })).sandbox).toMatchObject({
      status: "warning",
      found: `${fails}/bwrap cannot confine a program: bwrap: No permissions`,
    });
  });

  it("says what is wrong with an option that it does not have", async () => {
    const { code, stderr } = await program.run(["doctor", "--jso"]);
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option '--jso'\n(Did you mean --json?)");
  });
});

describe("portFinding", () => {
  const never = new AbortController().signal;
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  const listen = (server: Server) =>
    new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve(portOf(server))));
  const close = (server: Server) => new Promise((resolve) => server.close(resolve));

  it("knows a free port, a Bobbin, and something else", async () => {
    const other = createServer((_request, response) => response.writeHead(404).end("no"));
    const port = await listen(other);
    expect(await portFinding(port, never)).toMatchObject({
      works: false,
      found: `another program is listening on ${port}`,
      advice: `Choose another port: bobbin app-server --listen ws://127.0.0.1:${port + 1}`,
    });
    await close(other);
    expect(await portFinding(port, never)).toEqual({ works: true, found: `${port} is free` });

    const accept = () => ({ message() {}, oversized() {}, undecodable() {}, drained() {}, closed() {} });
    const door = await listenWebSocket({ accept, host: "127.0.0.1", port: 0 });
    const ours = Number(new URL(door.url).port);
    expect(await portFinding(ours, never)).toEqual({
      works: true,
      found: `a Bobbin is listening on ${ours}`,
    });
    await door.close(0);
  });

  it("takes what does not speak HTTP for something else", async () => {
    const talker = createTcpServer((socket) => {
      socket.on("error", () => {}).resume();
      socket.end("220 mail.example ESMTP\r\n");
    });
    expect((await portFinding(await listen(talker), never)).works).toBe(false);
    await close(talker);
  });
});

describe("checkAll", () => {
  it("gives up on a look that hangs, and tells it to stop", async () => {
    let told: AbortSignal | undefined;
    const hang = (signal: AbortSignal) => {
      told = signal;
      return new Promise<never>(() => {});
    };
    const findings = await checkAll([{ name: "a", needed: true, look: hang }], 1);
    expect(findings).toMatchObject([{ name: "a", status: "failed", found: "no answer within 0.001 s" }]);
    expect(told?.aborted).toBe(true);
  });

  it("makes a finding of a look that throws", async () => {
    const look = () => Promise.reject(new Error("boom"));
    expect(await checkAll([{ name: "a", needed: false, look }])).toMatchObject([
      { status: "warning", found: "boom" },
    ]);
  });
});

it("knows which versions of Node are new enough", () => {
  const works = ["18.20.0", "20.18.3", "20.19.0", "22.0.0", "24.1.0"].map((one) => nodeFinding(one).works);
  expect(works).toEqual([false, false, true, true, true]);
});
