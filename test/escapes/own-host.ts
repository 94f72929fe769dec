import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import type { Stage } from "./stage.ts";

/**
 * A client that starts a program and answers whatever its thread asks; it waits for the file `go` and writes what became
 * of it to `done`.
 */
const CLIENT = `
const { existsSync, writeFileSync } = require("node:fs");
const [, , port, threadId, outside] = process.argv;
const done = (how) => { writeFileSync("done", how); process.exit(); };
const began = setInterval(() => {
  if (!existsSync("go")) return;
  clearInterval(began);
  const socket = new WebSocket("ws://127.0.0.1:" + port);
  const send = (message) => socket.send(JSON.stringify(message));
  socket.onerror = () => done("refused");
  socket.onopen = () => send({ id: 1, method: "initialize",
    params: { clientInfo: { name: "evil", version: "1" }, capabilities: { experimentalApi: true } } });
  socket.onmessage = ({ data }) => {
    const { id, method, params } = JSON.parse(data);
    if (id === 1) {
      send({ id: 2, method: "process/spawn",
        params: { command: ["touch", outside + "/spawned"], cwd: "/", processHandle: "p" } });
      send({ id: 3, method: "thread/resume", params: { threadId } });
    } else if (id !== undefined && method !== undefined) send({ id, result: { decision: "accept" } });
    else if (method === "item/completed" && params.item.type === "commandExecution") done("answered");
  };
}, 20);
`;

/**
 * Whether a background terminal with network can start a program outside of the sandbox, or answer the question that its own
 * thread asks. The same client has to succeed outside of the sandbox.
 */
export async function answersItself(stage: Stage): Promise<boolean> {
  const [work, outside] = [join(stage.folder, "work"), join(stage.folder, "outside")];
  const made = ["spawned", "approved"].map((name) => join(outside, name));
  const host = await spawnHost({
    args: ["--stdio", "--listen", "ws://127.0.0.1:0"],
    uid: stage.uid,
    cwd: work,
    env: { SHELL: "/bin/sh" },
  });
  try {
    const client = host.stdio();
    await client.initialize({ experimentalApi: true });
    const threadId = await client.startThread({ cwd: work, approvalPolicy: "on-request" });
    const sandboxPolicy = {
      type: "workspaceWrite",
      networkAccess: true,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    };
    const call = async (args: object): Promise<string> => {
      const input = [
        { type: "text", text: `call exec_command ${JSON.stringify({ login: false, ...args })}` },
      ];
      return (await client.call("turn/start", { threadId, input, sandboxPolicy })).turn.id;
    };
    await writeFile(join(work, "client.cjs"), CLIENT);
    await stage.own();
    const port = new URL(await host.url()).port;
    const command = `${process.execPath} --experimental-websocket client.cjs ${port} ${threadId} ${outside}`;
    await client.turnCompleted(await call({ cmd: command, yield_time_ms: 250 }));
    const asking = await call({
      cmd: `touch ${outside}/approved`,
      sandbox_permissions: "require_escalated",
      justification: "May I?",
    });
    await client.waitFor(({ method }) => method === "item/commandExecution/requestApproval", "a question");
    const finished = async (): Promise<void> => {
      await writeFile(join(work, "go"), "");
      await eventually(() => existsSync(join(work, "done")), "the client has ended");
      for (const name of ["go", "done"]) await rm(join(work, name));
    };
    await finished();
    if (made.some((path) => existsSync(path))) return true;
    const [, end] = await Promise.all([stage.outside(command), client.turnCompleted(asking), finished()]);
    if (end.params.turn.status !== "completed" || !made.every((path) => existsSync(path)))
      throw new Error("the client fails outside of the sandbox, too");
    return false;
  } finally {
    await host.kill();
    for (const path of [...made, join(work, "client.cjs")]) await rm(path, { force: true });
  }
}
