// What a newcomer without a key can try: the offline model calls tools when it is asked to in words.
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { ROOT } from "../support/markdown.ts";
import { runExample } from "../support/saved-example.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

/** A thread with an empty folder on a host that has nothing but this configuration. */
async function stage(config: readonly string[] = []) {
  const home = await freshFolder("home");
  const cwd = await freshFolder("work");
  await writeFile(join(home, "config.toml"), config.join("\n"));
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  return { client, cwd, threadId: await client.startThread({ cwd }) };
}

async function answerTo(client: WireClient, threadId: string, said: string): Promise<string> {
  return messageOf(await client.turnCompleted(await client.say(threadId, said)));
}

/** Says something that leads to a question, and gives what the model says once that is answered. */
async function answered(
  client: WireClient,
  threadId: string,
  said: string,
  method: string,
  answer: (question: Received) => object,
): Promise<string> {
  const from = client.frames.length;
  const turnId = await client.say(threadId, said);
  const question = await client.waitFor((frame) => frame.method === method, method, from);
  client.send({ id: question.id, result: answer(question) });
  return messageOf(await client.turnCompleted(turnId));
}

function messageOf({ params }: Received): string {
  return params.turn.items.find(({ type }: { type: string }) => type === "agentMessage").text;
}

it("[OFFLINE-1] writes a file that is asked for in words, once it is approved", async () => {
  const { client, cwd, threadId } = await stage();
  const file = join(cwd, "notes.txt");
  const greeting = await answerTo(client, threadId, "Hello!");
  expect(greeting).toContain("- `write notes.txt: Hello!` writes a file\n");
  const write = "write notes.txt: Hello!";
  const approval = "item/fileChange/requestApproval";
  const declined = await answered(client, threadId, write, approval, () => ({ decision: "decline" }));
  expect(declined).toMatch(
    /^`apply_patch` failed:\n\n```\nThe patch was not applied: the user declined it\./,
  );
  expect(existsSync(file)).toBe(false);
  const accepted = await answered(client, threadId, write, approval, () => ({ decision: "accept" }));
  expect(accepted).toMatch(
    /^`apply_patch` gave this:\n\n```\nExit code: 0\nWall time: .* seconds\nOutput:\nSuccess\. Updated the following files:\nA notes\.txt\n```$/,
  );
  expect(await readFile(file, "utf8")).toBe("Hello!\n");
});

it("[OFFLINE-1] applies a patch without asking where that is allowed", async () => {
  const { client, cwd, threadId } = await stage(['sandbox_mode = "workspace-write"']);
  await writeFile(join(cwd, "a.txt"), "one\ntwo\n");
  const said = await answerTo(client, threadId, "patch:\n*** Update File: a.txt\n@@\n one\n-two\n+TWO");
  expect(said).toContain("Success. Updated the following files:");
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\nTWO\n");
  expect(await answerTo(client, threadId, "patch: nonsense")).toContain("`apply_patch` failed:");
});

it("[OFFLINE-1] calls a tool server's tool, which asks first", async () => {
  const data = await freshFolder("example");
  const example = runExample(ROOT, "approval", { PORT: "0", RAP_DATA: data, RAP_TOKEN: "" });
  await eventually(() => example.output.includes("url = "), "the example listens");
  const { client, threadId } = await stage(example.output.split("config.toml:\n")[1]!.split("\n"));
  expect(await answerTo(client, threadId, "tools")).toContain(
    '- `call deploy {"service": "…", "environment": "staging"}`',
  );
  const said = await answered(
    client,
    threadId,
    'call deploy {"service": "shop", "environment": "staging"}',
    "item/tool/requestUserInput",
    ({ params: { questions } }) => ({
      answers: { [questions[0].id]: { answers: [questions[0].options[0].label] } },
    }),
  );
  expect(said).toMatch(/^`deploy` gave this:\n\n```\n{"deployed":{"service":"shop"/);
  expect(await readFile(join(data, "deployments.jsonl"), "utf8")).toContain('"shop"');
  const wrong = await answerTo(client, threadId, 'call deploy {"service": "shop"}');
  expect(wrong).toMatch(/^`deploy` failed:\n\n```\nThe arguments do not fit deploy: /);
});

it("[OFFLINE-1] asks the user, and repeats the answer", async () => {
  const { client, threadId } = await stage();
  const method = "item/tool/requestUserInput";
  const said = await answered(client, threadId, "ask: Tea or coffee? | Tea | Coffee", method, () => ({
    answers: { answer: { answers: ["Coffee"] } },
  }));
  expect(said).toContain('{"answers":{"answer":{"answers":["Coffee"]}}}');
});

it("[OFFLINE-1] runs a command, and asks about one that removes files", async () => {
  const { client, cwd, threadId } = await stage(['sandbox_mode = "danger-full-access"']);
  await mkdir(join(cwd, "old"));
  const ran = await answerTo(client, threadId, "run: echo hello-$((1+1))");
  expect(ran).toMatch(
    /^`exec_command` gave this:\n\n```\nChunk ID: [0-9a-f]{6}\nWall time: .* seconds\nProcess exited with code 0\n.*hello-2\n```$/s,
  );
  const method = "item/commandExecution/requestApproval";
  const declined = await answered(client, threadId, "run: rm -rf old", method, () => ({
    decision: "decline",
  }));
  expect(declined).toContain("the user declined it");
  expect(existsSync(join(cwd, "old"))).toBe(true);
  const accepted = await answered(client, threadId, "run: rm -rf old", method, () => ({
    decision: "accept",
  }));
  expect(accepted).toContain("exited with code 0");
  expect(existsSync(join(cwd, "old"))).toBe(false);
});
