// Reports of problems: what is in them, what is not, and where they go.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { unzipped } from "../support/unzipped.ts";

const PLANTED = {
  env: "planted-environment-value-1",
  config: "planted-configuration-value-2",
  said: "sk-proj-plantedsaidvalue3plantedsaidvalue3",
  file: "ghp_plantedfilevalue4plantedfilevalue4",
};

async function host(config = "") {
  const home = await freshFolder();
  const mine = `[model_providers.mine]\nname = "Mine"\nbase_url = "http://127.0.0.1:9/v1"\nhttp_headers = { "X-Any" = "${PLANTED.config}" }\n`;
  await writeFile(join(home, "config.toml"), `${config}\n${mine}`);
  const env = { SHOP_TOKEN: PLANTED.env };
  return { home, ...(await stdioHost({ home, env, capabilities: { experimentalApi: true } })) };
}

describe("feedback/save", () => {
  it("[FEEDBACK-1] writes a new file with log, journal and chosen files, and without secrets", async () => {
    const { home, client } = await host();
    const threadId = await client.startThread();
    await client.turn(threadId, `My key is ${PLANTED.said}, and ${PLANTED.env} too`);
    const extra = join(home, "build.log");
    await writeFile(extra, `token ${PLANTED.file}\nplain line\n`);
    const savePath = join(home, "new", "report.zip");
    const reply = await client.call("feedback/save", {
      classification: "bug",
      reason: `It broke: ${PLANTED.config}`,
      threadId,
      includeLogs: true,
      extraLogFiles: [extra],
      tags: { place: "test" },
      savePath,
    });
    expect(reply).toEqual({
      threadId,
      savedPath: savePath,
      promptHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const files = unzipped(await readFile(savePath));
    expect([...files.keys()]).toEqual([
      "report.json",
      "attachments/0000/bobbin.log",
      "attachments/0001/journal.jsonl",
      "attachments/0002/build.log",
      "manifest.json",
    ]);
    const report = JSON.parse(files.get("report.json")!);
    expect(report).toMatchObject({
      threadId,
      classification: "bug",
      reason: "It broke: [redacted]",
      tags: { place: "test" },
    });
    expect(JSON.parse(files.get("manifest.json")!)).toHaveLength(3);
    expect(files.get("attachments/0001/journal.jsonl")).toContain("My key is [redacted]");
    expect(files.get("attachments/0002/build.log")).toContain("plain line");
    const all = [...files.values()].join("\n");
    for (const secret of Object.values(PLANTED)) expect(all).not.toContain(secret);

    const again = await client.request("feedback/save", { classification: "bug", savePath });
    expect(again.error?.data.code).toBe("feedbackExists");
  });

  it.each([
    ["feedbackPath", { savePath: "report.zip" }],
    ["invalidThreadId", { savePath: "/tmp/x.zip", threadId: "nope" }],
    ["feedbackAttachment", { savePath: "/tmp/x.zip", extraLogFiles: ["/nonexistent/file"] }],
    ["feedbackAttachment", { savePath: "/tmp/x.zip", extraLogFiles: ["relative"] }],
    [
      "feedbackFailed",
      { savePath: "/tmp/x.zip", extraLogFiles: Array.from({ length: 21 }, () => "/etc/hosts") },
    ],
    ["invalidParams", {}],
  ])("[FEEDBACK-1] refuses with %s: %j", async (code, params) => {
    const { client } = await host();
    const { error } = await client.request("feedback/save", { classification: "bug", ...params });
    expect(error?.data.code).toBe(code);
  });

  it("[FEEDBACK-1] accepts a report about a deleted thread, and omits logs unless they are requested", async () => {
    const { home, client } = await host();
    const threadId = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
    const gone = join(home, "gone.zip");
    const reply = await client.call("feedback/save", { classification: "other", threadId, savePath: gone });
    expect(reply).toEqual({ threadId, promptHash: null, savedPath: gone });
    expect([...unzipped(await readFile(gone)).keys()]).toEqual(["report.json", "manifest.json"]);
    const none = await client.call("feedback/save", {
      classification: "bug",
      savePath: join(home, "none.zip"),
    });
    expect(none.threadId).toMatch(/^no-active-thread-/);
  });
});

it("[FEEDBACK-1] stores no secret of its tags, whatever they contain", async () => {
  const { home, client } = await host();
  const savePath = join(home, "tags.zip");
  const odd = join(home, "back\\slash.log");
  await writeFile(odd, "a line");
  const tags = {
    place: "here",
    password: "hunter2",
    note: "-----BEGIN PRIVATE KEY-----abc",
    'a"b': "Bearer abcdefgh",
  };
  await client.call("feedback/save", { classification: "bug", savePath, tags, extraLogFiles: [odd] });
  const files = unzipped(await readFile(savePath));
  expect(JSON.parse(files.get("report.json")!).tags).toEqual({
    place: "here",
    password: "[redacted]",
    note: "[redacted]",
    'a"b': "Bearer [redacted]",
  });
  expect(files.get("attachments/0000/back_slash.log")).toBe("a line");
});

describe("feedback/upload", () => {
  it("[FEEDBACK-2] stores the report in the home, and returns its path", async () => {
    const { home, client } = await host();
    const { savedPath, sentTo } = await client.call("feedback/upload", { classification: "bug" });
    expect(await readdir(join(home, "feedback"))).toEqual([savedPath.slice(join(home, "feedback/").length)]);
    expect(sentTo).toBeUndefined();
  });

  it("[FEEDBACK-2] sends it to the endpoint that is configured, and keeps one that is refused", async () => {
    const bodies: Buffer[] = [];
    let status = 200;
    const server = createServer(async (request: IncomingMessage, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      bodies.push(Buffer.concat(pieces));
      response.writeHead(status).end("no room");
    });
    await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
    onTestFinished(() => void server.close());
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/reports`;
    const { home, client } = await host(`feedback.endpoint = "${endpoint}"`);
    const threadId = await client.startThread();
    await client.turn(threadId, `The token is ${PLANTED.said}`);
    const extra = join(home, "build.log");
    await writeFile(extra, `token ${PLANTED.file}\nplain line\n`);
    const { sentTo } = await client.call("feedback/upload", {
      classification: "bug",
      reason: "It broke",
      threadId,
      includeLogs: true,
      extraLogFiles: [extra],
    });
    expect(sentTo).toBe(endpoint);
    const files = unzipped(bodies[0]!);
    expect(JSON.parse(files.get("report.json")!)).toMatchObject({ threadId, reason: "It broke" });
    expect(files.get("attachments/0001/journal.jsonl")).toContain("The token is");
    expect(files.get("attachments/0002/build.log")).toContain("plain line");
    for (const text of files.values()) {
      expect(text).not.toContain(PLANTED.said);
      expect(text).not.toContain(PLANTED.file);
    }
    status = 507;
    const { error } = await client.request("feedback/upload", { classification: "bug" });
    expect(error).toMatchObject({ code: -32603, data: { code: "feedbackRefused", retryable: true } });
    const kept = /kept at (.+)$/.exec(error!.message)![1]!;
    expect(unzipped(await readFile(kept)).has("report.json")).toBe(true);
  });

  it("[FEEDBACK-2] is refused where it is turned off", async () => {
    const { client } = await host("feedback.enabled = false");
    const { error } = await client.request("feedback/upload", { classification: "bug" });
    expect(error?.data.code).toBe("feedbackDisabled");
  });
});

describe("bobbin feedback", () => {
  it("[FEEDBACK-3] makes a report from the command line", async () => {
    const home = await freshFolder();
    await mkdir(home, { recursive: true });
    const output = join(home, "report.zip");
    const run = await runBobbin(["feedback", "-r", "It hangs", "-o", output], { env: { BOBBIN_HOME: home } });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toContain(output);
    expect(JSON.parse(unzipped(await readFile(output)).get("report.json")!).reason).toBe("It hangs");
    const env = { BOBBIN_HOME: home };
    const unknown = await runBobbin(["feedback", "-t", "01a1e11e-8538-703d-834a-e6eb57dc6a9a"], { env });
    expect([unknown.code, unknown.stdout]).toEqual([0, expect.stringContaining("the report has no journal")]);
    const again = await runBobbin(["feedback", "-o", output], { env: { BOBBIN_HOME: home } });
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("already exists");
  });

  it("[FEEDBACK-3] makes one although config.toml cannot be used, and says so", async () => {
    const home = await freshFolder();
    await writeFile(join(home, "config.toml"), "model = = 3\n");
    const output = join(home, "report.zip");
    const run = await runBobbin(["feedback", "-r", "It does not start", "-o", output], {
      env: { BOBBIN_HOME: home },
    });
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining(output)]);
    expect(run.stderr).toMatch(/^bobbin: the configuration is not used: .*config\.toml/);
    expect(JSON.parse(unzipped(await readFile(output)).get("report.json")!).reason).toBe("It does not start");
  });
});
