// What the threads of a subject see of the machine that hosts them: its own folders, and nothing else.
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses } from "../support/mock-model.ts";
import { DOT_PNG } from "../support/picture.ts";
import { call, say } from "../support/rap-stage.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import { FakeToolServer } from "../support/tool-server.ts";
import type { WireClient } from "../support/wire-client.ts";

const calling = (tool: string, args: object): Reply => call(responses.call(tool, JSON.stringify(args)));

let host: HostProcess;
let model: MockModel;
let elsewhere: MockModel;
let tools: FakeToolServer;
let home: string;
/** A repository: `top/AGENTS.md`, `top/work/AGENTS.md` and so on. The subject's folder is `top/work`. */
let top: string;

const at = (...names: string[]) => join(top, ...names);

async function connect(subject: string): Promise<WireClient> {
  const client = await host.connect(undefined, signedBearer(subject));
  await client.initialize({ experimentalApi: true });
  return client;
}

beforeAll(async () => {
  home = await freshFolder();
  top = await freshFolder("top");
  model = await MockModel.start(say("Done."));
  elsewhere = await MockModel.start(say("You should not be here."));
  tools = await FakeToolServer.start({ roll: {} });
  for (const folder of [".git", "work/inner", "outside/.agents/skills/secret"])
    await mkdir(at(folder), { recursive: true });
  await writeFile(join(home, "AGENTS.md"), "secret-of-home");
  await writeFile(at("AGENTS.md"), "secret-above");
  await writeFile(at(".git", "HEAD"), "ref: refs/heads/secret-branch\n");
  await writeFile(at("work", "AGENTS.md"), "Of the work folder.");
  await symlink(at("AGENTS.md"), at("work", "inner", "AGENTS.md"));
  await writeFile(at("work", "inner", ".git"), `gitdir: ${at(".git")}\n`);
  await writeFile(at("work", "picture.png"), DOT_PNG);
  await writeFile(at("outside", "picture.png"), DOT_PNG);
  await symlink(at("outside", "picture.png"), at("work", "link.png"));
  await writeFile(at("outside", "SKILL.md"), "---\nname: x\ndescription: x\n---\nsecret-skill");
  await writeFile(join(home, "key"), KEY);
  const config = [
    'model_provider = "mock"',
    "features.default_mode_request_user_input = true",
    'model = "mock-model"',
    'sandbox_mode = "danger-full-access"',
    "[model_providers.mock]",
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    "request_max_retries = 0",
    "[subjects.cara]",
    `roots = ["${at("work")}"]`,
    "[subjects.dan]",
    `tool_servers = ["${tools.url}"]`,
  ];
  await writeFile(join(home, "config.toml"), config.join("\n"));
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth] });
});

/** What the model was sent last. */
const sent = (): string => JSON.stringify(model.asked.at(-1)?.body);
const offered = (): string[] => model.asked.at(-1)!.body.tools.map(({ name }: { name: string }) => name);

describe("a thread of a subject without folders", () => {
  it("[REACH-2] starts in no folder of the host, and its model gets none", async () => {
    const bob = await connect("bob");
    const { thread, cwd, instructionSources, sandbox } = await bob.call("thread/start");
    expect(cwd).toBe(join(home, "nowhere"));
    expect(instructionSources).toEqual([]);
    expect(thread.gitInfo).toBeNull();
    expect(sandbox).toEqual({ type: "readOnly", networkAccess: false });
    await bob.turn(thread.id, "Hello");
    expect(sent()).not.toContain("secret-");
    expect(offered()).not.toContain("view_image");
    // Clients send back what they were told.
    await bob.call("thread/start", { cwd });
    await bob.call("turn/start", { threadId: thread.id, cwd, input: [{ type: "text", text: "Again" }] });
    expect((await bob.call("skills/list", { cwds: [cwd] })).data).toEqual([{ cwd, skills: [], errors: [] }]);
  });

  it("[REACH-2] is not led elsewhere by the configuration in a request", async () => {
    const bob = await connect("bob");
    const url = elsewhere.url;
    for (const config of [
      { "model_providers.mock.base_url": url },
      { model_providers: { mock: { base_url: url, wire_api: "responses" } } },
      { "rap_servers.own.url": url, "rap.callback_public_url": url },
      { "mcp_servers.own.url": url, "mcp_servers.shell.command": "sh" },
      { model_instructions_file: at("outside", "SKILL.md") },
      { "subjects.bob.roots": ["/"], "subjects.roots": ["/"] },
    ]) {
      const { thread } = await bob.call("thread/start", { config });
      await bob.turn(thread.id, "Hello");
      expect(sent(), JSON.stringify(config)).not.toContain("secret-");
    }
    expect(elsewhere.asked).toEqual([]);
    expect((await bob.refusal("thread/start", { cwd: top })).data.code).toBe("pathNotAllowed");
  });
});

describe("a thread of a subject with a folder", () => {
  it("[REACH-1] reads instructions there, and none above, in the home or behind a link", async () => {
    const cara = await connect("cara");
    const started = await cara.call("thread/start");
    expect(started).toMatchObject({ cwd: at("work"), instructionSources: [at("work", "AGENTS.md")] });
    expect(started.thread.gitInfo).toBeNull();
    await cara.turn(started.thread.id, "Hello");
    expect(sent()).toContain("Of the work folder.");
    expect(sent()).not.toContain("secret-");
    const inner = await cara.call("thread/start", { cwd: at("work", "inner") });
    expect(inner.instructionSources).toEqual([]);
    expect(inner.thread.gitInfo).toBeNull();
    const own = host.stdio();
    await own.initialize();
    const seen = await own.call("thread/start", { cwd: at("work", "inner") });
    expect(seen.thread.gitInfo).toMatchObject({ branch: "secret-branch" });
  });

  it("[REACH-1] changes files there by patches, and no others, whatever its user accepts", async () => {
    const cara = await connect("cara");
    const threadId = await cara.startThread({ sandbox: "workspace-write", approvalPolicy: "on-request" });
    const patch = (...lines: string[]) =>
      calling("apply_patch", { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
    const output = () => model.asked.at(-1)!.body.input.at(-1).output;
    const attempt = async (...lines: string[]): Promise<string> => {
      model.reply(patch(...lines), say("Done."));
      const turnId = await cara.say(threadId, "Change it.");
      const from = cara.frames.length;
      const frame = await cara.waitFor(
        ({ id, method, params }) =>
          (id !== undefined && method !== undefined) ||
          (method === "turn/completed" && params.turn.id === turnId),
        "a question or the end",
        from,
      );
      if (frame.id !== undefined) cara.send({ id: frame.id, result: { decision: "accept" } });
      await cara.turnCompleted(turnId);
      return output();
    };
    await symlink(at("outside"), at("work", "door"));
    await writeFile(at("outside", "old.txt"), "old\n");
    expect(await attempt("*** Add File: mine.txt", "+x")).toContain("Success. Updated the following files:");
    for (const name of [
      at("outside", "new.txt"),
      "../outside/new.txt",
      "door/new.txt",
      join(home, "new.txt"),
    ])
      expect(await attempt(`*** Add File: ${name}`, "+x"), name).toContain("outside of the folders");
    // What is there does not exist for it.
    expect(await attempt("*** Update File: door/old.txt", "@@", "-old", "+new")).toContain(
      "There is no file",
    );
    expect(await attempt("*** Update File: mine.txt", "*** Move to: ../outside/mine.txt")).toContain(
      "outside of",
    );
    expect(await readFile(at("outside", "old.txt"), "utf8")).toBe("old\n");
    expect(await readdir(at("outside"))).not.toContain("new.txt");
    expect(await readdir(home)).not.toContain("new.txt");
    expect(cara.frames.filter(({ method }) => method === "item/fileChange/requestApproval")).toEqual([]);
  });

  it("[REACH-1] shows its model pictures from there, and no others", async () => {
    const cara = await connect("cara");
    const threadId = await cara.startThread();
    const input = [{ type: "localImage", path: "picture.png" }];
    const { turn } = await cara.call("turn/start", { threadId, input });
    await cara.turnCompleted(turn.id);
    expect(sent()).toContain("data:image/png");
    for (const [path, shown] of [
      [at("work", "picture.png"), true],
      [at("outside", "picture.png"), false],
      ["../outside/picture.png", false],
      ["link.png", false],
    ] as const) {
      model.reply(calling("view_image", { path }), say("Done."));
      const id = await cara.startThread();
      await cara.turn(id, "Look");
      expect(sent().includes("data:image/png"), path).toBe(shown);
    }
    model.reply(say("Done."));
  });

  it("[REACH-1] gets no more access when the host's own user resumes it, or queues its input", async () => {
    const cara = await connect("cara");
    const own = host.stdio();
    const threadId = await cara.startThread();
    await cara.turn(threadId, "Hello");
    const skill = { type: "skill", name: "x", path: at("outside", "SKILL.md") };
    const { turn } = await own.call("turn/start", {
      threadId,
      input: [{ type: "text", text: "Hello" }, skill],
    });
    await cara.turnCompleted(turn.id);
    expect(sent()).toContain("could not be read");
    expect(sent()).not.toContain("secret-skill");
    await cara.call("thread/unload", { threadId });
    const resumed = await own.call("thread/resume", { threadId, cwd: top });
    expect(resumed.instructionSources).toEqual([]);
  });
});

describe("a subject whose folders are taken away", () => {
  it("[REACH-1] keeps its threads, and their next load reads nothing", async () => {
    const cara = await connect("cara");
    const own = host.stdio();
    const threadId = await cara.startThread();
    await cara.turn(threadId, "Hello");
    await cara.call("thread/unload", { threadId });
    const write = (value: unknown) =>
      own.call("config/value/write", { keyPath: "subjects.cara.roots", value, mergeStrategy: "replace" });
    await write([]);
    const resumed = await cara.call("thread/resume", { threadId });
    expect(resumed).toMatchObject({ cwd: at("work"), instructionSources: [] });
    await cara.turn(threadId, "Again");
    expect(sent()).not.toContain("Of the work folder.");
    expect((await cara.refusal("thread/start", { cwd: at("work") })).data.code).toBe("pathNotAllowed");
    await write([at("work")]);
    await cara.call("thread/start", { cwd: at("work") });
  });
});

describe("a subject that brings a tool server along", () => {
  it("[REACH-3] uses it if its URL is listed, and it is never called otherwise", async () => {
    const [bob, dan, own] = [await connect("bob"), await connect("dan"), host.stdio()];
    const toolServers = { own: { url: tools.url } };
    for (const method of ["thread/start", "thread/loadSettings/update"]) {
      const { data } = await bob.refusal(method, { threadId: await bob.startThread(), toolServers });
      expect(data.code).toBe("addressNotAllowed");
    }
    expect(tools.heard).toEqual([]);
    const threadId = await dan.startThread({ toolServers });
    await dan.turn(threadId, "Hello");
    expect(offered()).toContain("roll");
    const heard = tools.heard.length;
    // What was allowed when the thread was started is not allowed any more.
    const write = (value: unknown) =>
      own.call("config/value/write", {
        keyPath: "subjects.dan.tool_servers",
        value,
        mergeStrategy: "replace",
      });
    await write([]);
    await dan.call("thread/unload", { threadId });
    await dan.call("thread/resume", { threadId });
    await dan.turn(threadId, "Again");
    expect(offered()).not.toContain("roll");
    expect(tools.heard).toHaveLength(heard);
  });
});

describe("a question to one subject", () => {
  it("[AUTH-5] cannot be answered by another", async () => {
    const [bob, dan] = [await connect("bob"), await connect("dan")];
    const threadId = await dan.startThread();
    const questions = [
      { id: "q", header: "Q", question: "Who?", options: [{ label: "Me", description: "x" }] },
    ];
    model.reply(calling("request_user_input", { questions }), say("Done."));
    const turnId = await dan.say(threadId, "Ask");
    const asked = await dan.waitFor(({ method }) => method === "item/tool/requestUserInput", "the question");
    bob.send({ id: asked.id, result: { answers: { q: { answers: ["secret-answer"] } } } });
    // The host takes messages of a connection in order.
    await bob.call("model/list");
    expect((await dan.call("thread/read", { threadId })).thread.status).toMatchObject({
      activeFlags: ["waitingOnUserInput"],
    });
    expect(bob.told("item/tool/requestUserInput")).toEqual([]);
    dan.send({ id: asked.id, result: { answers: { q: { answers: ["Me"] } } } });
    await dan.turnCompleted(turnId);
    expect(sent()).not.toContain("secret-answer");
    model.reply(say("Done."));
  });
});
