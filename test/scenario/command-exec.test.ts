import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { withMark } from "../support/processes.ts";
import type { WireClient } from "../support/wire-client.ts";

const FULL = { sandboxPolicy: { type: "dangerFullAccess" } };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function connected(transport: "stdio" | "websocket"): Promise<WireClient> {
  if (transport === "stdio") return (await stdioHost()).client;
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  return host.join();
}

function streamed(client: WireClient, processId: string): string {
  const deltas = client
    .told("command/exec/outputDelta")
    .filter(({ params }) => params.processId === processId);
  return Buffer.concat(deltas.map(({ params }) => Buffer.from(params.deltaBase64, "base64"))).toString();
}

describe.each(["stdio", "websocket"] as const)("a command that a client runs over %s", (transport) => {
  it("[CMD-1] replies with its exit code and its output when it has ended", async () => {
    const client = await connected(transport);
    const command = ["sh", "-c", "echo out; echo err >&2; exit 3"];
    expect(await client.call("command/exec", { command, ...FULL })).toEqual({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
  });

  it("[CMD-2] runs on a terminal, which is written to and resized, and notifies of its output before it replies", async () => {
    const client = await connected(transport);
    const reply = client.call("command/exec", {
      command: ["sh", "-c", "stty size; read x; stty size; read x; exit 7"],
      processId: "p1",
      tty: true,
      size: { rows: 24, cols: 80 },
      disableTimeout: true,
      ...FULL,
    });
    await client.until(() => streamed(client, "p1").includes("24 80"), "the first size");
    await client.call("command/exec/resize", { processId: "p1", size: { rows: 40, cols: 100 } });
    await client.call("command/exec/write", { processId: "p1", deltaBase64: base64("\n") });
    await client.until(() => streamed(client, "p1").includes("40 100"), "the second size");
    await client.call("command/exec/write", { processId: "p1", deltaBase64: base64("\n") });
    expect(await reply).toEqual({ exitCode: 7, stdout: "", stderr: "" });
    const last = client.frames.at(-1)!;
    expect(last.result).toEqual({ exitCode: 7, stdout: "", stderr: "" });
  });

  it("[CMD-2] accepts input that is sent right after the request, and streams its output", async () => {
    const client = await connected(transport);
    const processId = "p3";
    const reply = client.call("command/exec", {
      command: ["cat"],
      processId,
      streamStdin: true,
      streamStdoutStderr: true,
      ...FULL,
    });
    // Nothing waits for the command to run.
    const write = client.call("command/exec/write", {
      processId,
      deltaBase64: base64("abc"),
      closeStdin: true,
    });
    expect(await write).toEqual({});
    expect(await reply).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(streamed(client, processId)).toBe("abc");
  });

  it("[CMD-3] ends with 124 after its time, with 137 when it is terminated, and keeps to its cap", async () => {
    const client = await connected(transport);
    const slow = { command: ["sleep", "1000"], timeoutMs: 50, ...FULL };
    expect(await client.call("command/exec", slow)).toEqual({ exitCode: 124, stdout: "", stderr: "" });
    const stubborn = client.call("command/exec", {
      command: ["sh", "-c", 'trap "" TERM; sleep 1000'],
      processId: "p2",
      streamStdoutStderr: true,
      disableTimeout: true,
      ...FULL,
    });
    await client.call("command/exec/terminate", { processId: "p2" });
    expect(await stubborn).toEqual({ exitCode: 137, stdout: "", stderr: "" });
    const long = { command: ["seq", "1", "100000"], outputBytesCap: 10, ...FULL };
    expect(await client.call("command/exec", long)).toMatchObject({ exitCode: 0, stdout: "1\n2\n3\n4\n5\n" });
  });
});

describe("a command that a client runs", () => {
  it("[CMD-4] gets the host's folder and its environment without secrets, and what the client changes", async () => {
    const cwd = await freshFolder();
    const { client } = await stdioHost({
      cwd,
      env: { OPENAI_API_KEY: "sk-secret", MY_TOKEN: "secret too", KEEP: "kept", DROP: "dropped" },
    });
    const { stdout } = await client.call("command/exec", {
      command: ["sh", "-c", "pwd; env"],
      env: { DROP: null, MORE: "more" },
      ...FULL,
    });
    expect(stdout.split("\n")[0]).toBe(cwd);
    expect(stdout).toMatch(/^KEEP=kept$/m);
    expect(stdout).toMatch(/^MORE=more$/m);
    expect(stdout).not.toMatch(/secret|dropped/);
    const within = await client.call("command/exec", { command: ["pwd"], cwd: "..", ...FULL });
    expect(within.stdout).toBe(`${join(cwd, "..")}\n`);
  });

  it("[CMD-5] is refused with a reason if it makes no sense", async () => {
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    const refused = async (params: object) => {
      const { code, message, data } = await client.refusal("command/exec", {
        command: ["true"],
        ...FULL,
        ...params,
      });
      return [code, data.code, message];
    };
    expect(await refused({ command: [] })).toEqual([-32600, "emptyCommand", "command must not be empty"]);
    expect((await refused({ command: [""] }))[1]).toBe("emptyCommand");
    for (const [name, params] of [
      ["command", { command: ["echo", "a\0b"] }],
      ["cwd", { cwd: "/tmp\0" }],
      ["env", { env: { A: "\0" } }],
    ] as const)
      expect(await refused(params)).toEqual([
        -32602,
        "invalidParams",
        expect.stringContaining(`${name}: must not contain the character NUL`),
      ]);
    expect(await refused({ tty: true })).toEqual([
      -32600,
      "processIdRequired",
      "command/exec tty or streaming requires a client-supplied processId",
    ]);
    expect((await refused({ size: { rows: 1, cols: 1 } }))[1]).toBe("invalidParams");
    expect((await refused({ outputBytesCap: 1, disableOutputCap: true }))[1]).toBe("invalidParams");
    expect((await refused({ timeoutMs: 1, disableTimeout: true }))[1]).toBe("invalidParams");
    expect((await refused({ timeoutMs: -1 }))[1]).toBe("invalidParams");
    expect((await refused({ permissionProfile: ":workspace" }))[2]).toBe(
      "`permissionProfile` cannot be combined with `sandboxPolicy`",
    );
    expect((await refused({ sandboxPolicy: null, permissionProfile: ":no-such" }))[1]).toBe("badConfig");
    expect((await refused({ command: ["/no/such/program"] }))[1]).toBe("processNotStarted");
    const running = client.call("command/exec", {
      command: ["sleep", "1000"],
      processId: "one",
      disableTimeout: true,
      ...FULL,
    });
    expect((await refused({ processId: "one" }))[2]).toBe('duplicate active command/exec process id: "one"');
    const write = (params: object) => client.refusal("command/exec/write", { processId: "one", ...params });
    expect((await write({})).data.code).toBe("invalidParams");
    expect((await write({ deltaBase64: base64("x") })).data.code).toBe("processInputClosed");
    expect((await write({ processId: "nope", deltaBase64: base64("x") })).message).toBe(
      'no active command/exec for process id "nope"',
    );
    await client.call("command/exec/terminate", { processId: "one" });
    expect((await running).exitCode).toBe(137);
  });

  it("[CMD-6] ends with its connection, and cannot be reached from others", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const [one, other] = [await host.join(), await host.join()];
    const mark = `command-of-a-connection-${process.pid}`;
    one.send({
      id: "runs",
      method: "command/exec",
      params: {
        command: ["sh", "-c", "setsid sleep 1000 & sleep 1000"],
        processId: "p",
        disableTimeout: true,
        env: { MARK: mark },
        ...FULL,
      },
    });
    await eventually(() => withMark(mark).length === 3, "it runs");
    expect((await other.refusal("command/exec/terminate", { processId: "p" })).data.code).toBe(
      "commandNotFound",
    );
    await one.cut();
    await eventually(() => withMark(mark).length === 0, "it is gone");
  });

  it("[CMD-7] keeps a bounded part of an output that is not streamed, also without a cap", async () => {
    const { client } = await stdioHost();
    const command = ["sh", "-c", "yes | head -c 20000000; echo done >&2"];
    const { stdout, stderr } = await client.call("command/exec", {
      command,
      disableOutputCap: true,
      ...FULL,
    });
    expect(stdout).toHaveLength(5 * 1024 * 1024);
    expect(stderr).toBe("done\n");
  });
});

describe("a command that a client runs in the sandbox", () => {
  const tries = (folder: string, other: string): string[] => [
    "sh",
    "-c",
    `touch ${folder}/in && echo in; touch ${other}/out && echo out; exit 0`,
  ];

  it("[CMD-8] may do what the host's configuration allows, or a policy or profile that the client names", async () => {
    const [cwd, other] = [await freshFolder(), await freshFolder()];
    const { client } = await stdioHost({ cwd, capabilities: { experimentalApi: true } });
    const wrote = async (params: object): Promise<string> => {
      const { stdout } = await client.call("command/exec", { command: tries(cwd, other), ...params });
      return stdout;
    };
    expect(await wrote({})).toBe("");
    const workspace = { type: "workspaceWrite", excludeSlashTmp: true, excludeTmpdirEnvVar: true };
    expect(await wrote({ sandboxPolicy: workspace })).toBe("in\n");
    expect(await wrote({ sandboxPolicy: { ...workspace, writableRoots: [other] } })).toBe("in\nout\n");
    expect(await wrote({ permissionProfile: ":workspace" })).toBe("in\nout\n");
    expect(await wrote({ permissionProfile: ":read-only" })).toBe("");
    expect(await wrote({ permissionProfile: ":danger-full-access" })).toBe("in\nout\n");
  });

  it.each([{ tty: false }, { tty: true }])(
    "[CMD-8] is gone after its host was killed, with all that it started, with %j",
    async (way) => {
      const { host, client } = await stdioHost();
      const mark = `sandboxed-${process.pid}-${way.tty}`;
      client.send({
        id: "runs",
        method: "command/exec",
        params: {
          command: ["sh", "-c", "setsid sleep 1000 & sleep 1000 & sleep 1000"],
          processId: "p",
          streamStdoutStderr: true,
          disableTimeout: true,
          env: { MARK: mark },
          ...way,
        },
      });
      await eventually(() => withMark(mark).length >= 4, "it runs");
      host.signal("SIGKILL");
      await host.exited;
      await eventually(() => withMark(mark).length === 0, "it is gone");
    },
  );
});
