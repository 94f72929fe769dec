// Programs that clients run by themselves: process/spawn and what belongs to it.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { withMark } from "../support/processes.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };

async function spawned(
  client: WireClient,
  command: readonly string[],
  more: object = {},
): Promise<{ handle: string; exited: Promise<Received["params"]> }> {
  const handle = `handle ${client.frames.length}`;
  await client.call("process/spawn", { command, cwd: "/", processHandle: handle, ...more });
  const exited = client.waitFor(
    ({ method, params }) => method === "process/exited" && params.processHandle === handle,
    "process/exited",
  );
  return { handle, exited: exited.then(({ params }) => params) };
}

function streamed(client: WireClient, handle: string): string {
  const deltas = client.told("process/outputDelta").filter(({ params }) => params.processHandle === handle);
  return Buffer.concat(deltas.map(({ params }) => Buffer.from(params.deltaBase64, "base64"))).toString();
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a program that a client starts", () => {
  it("[PROC-1] replies when it runs, and notifies of its output and its exit", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const { handle, exited } = await spawned(client, ["sh", "-c", "echo out; echo err >&2; exit 3"]);
    expect(await exited).toEqual({
      processHandle: handle,
      exitCode: 3,
      outputDrainTimedOut: false,
      stdout: "out\n",
      stdoutCapReached: false,
      stderr: "err\n",
      stderrCapReached: false,
    });
  });

  it("[PROC-1] notifies of its exit although other processes hold its output open, and says so", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const { exited } = await spawned(client, ["sh", "-c", "echo out; setsid sleep 1000 & sleep 0.2; exit 3"]);
    expect(await exited).toMatchObject({ exitCode: 3, stdout: "out\n", outputDrainTimedOut: true });
  });

  it("[PROC-2] streams its output, accepts input, and has a terminal if requested", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const cat = await spawned(client, ["cat"], { streamStdin: true, streamStdoutStderr: true });
    await client.call("process/writeStdin", {
      processHandle: cat.handle,
      deltaBase64: base64("abc"),
      closeStdin: true,
    });
    expect(await cat.exited).toMatchObject({ exitCode: 0, stdout: "" });
    expect(streamed(client, cat.handle)).toBe("abc");

    const shell = await spawned(client, ["sh", "-c", "stty size; read x; stty size"], {
      tty: true,
      size: { rows: 24, cols: 80 },
    });
    await client.until(() => streamed(client, shell.handle).includes("24 80"), "the first size");
    await client.call("process/resizePty", { processHandle: shell.handle, size: { rows: 40, cols: 100 } });
    await client.call("process/writeStdin", { processHandle: shell.handle, deltaBase64: base64("\n") });
    await shell.exited;
    expect(streamed(client, shell.handle)).toContain("40 100");
  });

  it("[PROC-3] has limits of time and of output, and is killed with all that it started", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const slow = await spawned(client, ["sleep", "1000"], { timeoutMs: 50 });
    expect(await slow.exited).toMatchObject({ exitCode: 124 });
    const long = await spawned(client, ["seq", "1", "100000"], { outputBytesCap: 10 });
    expect(await long.exited).toMatchObject({
      exitCode: 0,
      stdout: "1\n2\n3\n4\n5\n",
      stdoutCapReached: true,
    });
    const family = await spawned(client, ["sh", "-c", "sleep 1000 & trap '' TERM; sleep 1000"], {
      timeoutMs: null,
      env: { MARK: "family-of-a-client" },
    });
    await client.call("process/kill", { processHandle: family.handle });
    expect(await family.exited).toMatchObject({ exitCode: 137 });
    await eventually(() => withMark("family-of-a-client").length === 0, "nothing is left");
  });

  it("[PROC-4] gets the host's environment without its secrets, and what the client changes", async () => {
    const { client } = await stdioHost({
      capabilities: EXPERIMENTAL,
      env: { OPENAI_API_KEY: "sk-secret", KEEP: "kept", DROP: "dropped" },
    });
    const { exited } = await spawned(client, ["env"], { env: { DROP: null, MORE: "more" } });
    const { stdout } = await exited;
    expect(stdout).toContain("KEEP=kept\n");
    expect(stdout).toContain("MORE=more\n");
    expect(stdout).not.toMatch(/sk-secret|dropped/);
  });

  it("[PROC-5] is refused with a reason if it makes no sense", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const refused = async (params: object) =>
      (
        await client.refusal("process/spawn", {
          command: ["true"],
          cwd: "/",
          processHandle: "one",
          ...params,
        })
      ).data.code;
    expect(await refused({ command: [] })).toBe("emptyCommand");
    expect(await refused({ command: [""] })).toBe("emptyCommand");
    expect(await refused({ command: ["a\0"] })).toBe("invalidParams");
    expect(await refused({ processHandle: "" })).toBe("invalidParams");
    expect(await refused({ cwd: "relative" })).toBe("invalidParams");
    expect(await refused({ size: { rows: 1, cols: 1 } })).toBe("invalidParams");
    expect(await refused({ tty: true, size: { rows: 0, cols: 1 } })).toBe("invalidParams");
    expect(await refused({ timeoutMs: -1 })).toBe("invalidParams");
    expect(await refused({ command: ["/no/such/program"] })).toBe("processNotStarted");
    expect(await refused({ cwd: "/no/such/folder" })).toBe("processNotStarted");
    await client.call("process/spawn", {
      command: ["sleep", "1000"],
      cwd: "/",
      processHandle: "one",
      timeoutMs: null,
    });
    expect(await refused({})).toBe("processHandleTaken");
    expect((await client.refusal("process/kill", { processHandle: "two" })).data.code).toBe(
      "processNotFound",
    );
    expect((await client.refusal("process/writeStdin", { processHandle: "one" })).data.code).toBe(
      "invalidParams",
    );
    const closed = { processHandle: "one", deltaBase64: base64("x") };
    expect((await client.refusal("process/writeStdin", closed)).data.code).toBe("processInputClosed");
  });
});

describe("programs of clients", () => {
  const SLEEPER = { command: ["sleep", "1000"], cwd: "/", timeoutMs: null };

  it("[PROC-6] end with their connection, and cannot be used by others", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const one = await host.join(undefined, EXPERIMENTAL);
    const other = await host.join(undefined, EXPERIMENTAL);
    const env = { MARK: "ends-with-connection" };
    for (const client of [one, other])
      await client.call("process/spawn", { ...SLEEPER, processHandle: "same", env });
    expect(withMark("ends-with-connection")).toHaveLength(2);
    await one.cut();
    await eventually(() => withMark("ends-with-connection").length === 1, "one is gone");
    await other.call("process/kill", { processHandle: "same" });
    await eventually(() => withMark("ends-with-connection").length === 0, "both are gone");
  });

  it("[PROC-7] end with the host", async () => {
    const { host, client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const env = { MARK: "ends-with-host", HOME: await freshFolder() };
    await client.call("process/spawn", { ...SLEEPER, processHandle: "one", env });
    expect(withMark("ends-with-host")).toHaveLength(1);
    host.signal("SIGTERM");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(withMark("ends-with-host")).toEqual([]);
  });

  it("[PROC-8] that write without end wait for a client that does not read, and the host's memory stays bounded", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join(undefined, EXPERIMENTAL);
    const other = await host.join();
    client.pause();
    const before = host.rss();
    client.send({
      id: "flood",
      method: "process/spawn",
      params: {
        command: ["yes"],
        cwd: "/",
        processHandle: "flood",
        streamStdoutStderr: true,
        timeoutMs: null,
        outputBytesCap: null,
        env: { MARK: "writes-without-end" },
      },
    });
    await eventually(() => withMark("writes-without-end").length === 1, "it runs");
    for (let round = 0; round < 50; round++) await other.call("thread/loaded/list");
    expect(host.rss() - before).toBeLessThan(64 * 1024 * 1024);
    await client.cut();
    await eventually(() => withMark("writes-without-end").length === 0, "it is gone");
  });
});

describe("many programs", () => {
  it("[PROC-15] are refused at the limit of their connection, and at that of all connections", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const [one, two, three] = [
      await host.join(undefined, EXPERIMENTAL),
      await host.join(undefined, EXPERIMENTAL),
      await host.join(undefined, EXPERIMENTAL),
    ];
    const program = (nth: number) => ({ processHandle: `p${nth}`, command: ["sleep", "1000"], cwd: "/" });
    const fill = (client: WireClient) =>
      Promise.all(Array.from({ length: 64 }, (_, nth) => client.call("process/spawn", program(nth))));
    await fill(one);
    const command = { command: ["echo", "hi"], sandboxPolicy: { type: "dangerFullAccess" } };
    const refused = await one.refusal("command/exec", command);
    expect([refused.data.code, refused.data.retryable]).toEqual(["tooManyProcesses", true]);
    expect(await two.call("command/exec", command)).toMatchObject({ stdout: "hi\n" });
    await fill(two);
    expect((await three.refusal("process/spawn", program(0))).data.code).toBe("tooManyProcesses");
    await three.turn(await three.startThread(), "hello");
    await one.call("process/kill", { processHandle: "p7" });
    await one.waitFor(
      ({ method, params }) => method === "process/exited" && params.processHandle === "p7",
      "its exit",
    );
    await one.call("command/exec", command);
    two.end();
    const hasRoom = async () => (await three.request("process/spawn", program(1))).error === undefined;
    await eventually(hasRoom, "room for a program");
  });
});
