// `notify` on the real program: real programs and a real server.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COMMAND_QUESTION, commandStage } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { run, say } from "../support/model-replies.ts";

const ASKS = ['sandbox_mode = "danger-full-access"', 'approval_policy = "untrusted"'];

/** What was posted. */
const posted: { readonly type: string }[] = [];
/** Whether the server answers. */
let hangs = false;
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    posted.push(JSON.parse(body));
    if (!hangs) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

/** A program that writes its last argument, and its environment, to files. */
async function program(more = ""): Promise<{ readonly command: string; readonly folder: string }> {
  const folder = await freshFolder("notified");
  const script = join(folder, "notify.sh");
  writeFileSync(script, `env > ${folder}/env\nprintf '%s\\n' "$2" >> ${folder}/told\n${more}`);
  return { command: JSON.stringify(["/bin/sh", script, "first"]), folder };
}

const told = (folder: string) =>
  existsSync(join(folder, "told"))
    ? readFileSync(join(folder, "told"), "utf8")
        .split("\n")
        // The last line may be half written.
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    : [];

it("[NOTIFY-1] runs a program at the end of a turn, in the Codex CLI's form", async () => {
  const { command, folder } = await program();
  const top = [...ASKS, `notify = ${command}`];
  const { client, threadId, cwd } = await commandStage([say("Done.")], top, { MY_API_KEY: "hidden" });
  const turnId = await client.turn(threadId, "Do it.");
  await eventually(() => told(folder).length > 0, "the program ran");
  expect(told(folder)).toEqual([
    {
      type: "agent-turn-complete",
      "thread-id": threadId,
      "turn-id": turnId,
      cwd,
      client: expect.any(String),
      "input-messages": ["Do it."],
      "last-assistant-message": "Done.",
    },
  ]);
  expect(readFileSync(join(folder, "env"), "utf8")).not.toContain("hidden");
});

it("[NOTIFY-2] [NOTIFY-3] notifies of questions and of ends of turns, by a program and by a URL that hangs", async () => {
  hangs = true;
  const { command, folder } = await program("sleep 600");
  const top = [...ASKS, `notify = { command = ${command}, url = "${address()}" }`];
  const { client, host, threadId } = await commandStage([run({ cmd: "touch made" }), say("Done.")], top);
  const turnId = await client.say(threadId, "Do it.");
  const question = await client.waitFor(({ method }) => method === COMMAND_QUESTION, "a question");
  await eventually(
    () => told(folder).length > 0 && posted.length > 0,
    "people were notified of the question",
  );
  expect(told(folder)[0]).toMatchObject({
    type: "approval-requested",
    "thread-id": threadId,
    "turn-id": turnId,
    method: COMMAND_QUESTION,
    command: expect.stringContaining("touch made"),
  });
  client.send({ id: question.id, result: { decision: "accept" } });
  await client.waitFor(({ method }) => method === "turn/completed", "the end");
  await eventually(() => posted.length > 1, "people were notified of the end");
  expect(posted.map(({ type }) => type)).toEqual(["approval-requested", "agent-turn-complete"]);
  expect(posted[1]).toMatchObject({ status: "completed", "last-assistant-message": "Done." });
  // What hangs does not keep the host from its end.
  host.signal("SIGTERM");
  expect((await host.exited).code).toBe(0);
  expect(posted).toHaveLength(2);
});
