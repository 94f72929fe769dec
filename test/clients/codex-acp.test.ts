// The published bridge from editors (Agent Client Protocol) to the app-server, with our program in place of its own.
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { EVERYTHING } from "../support/mcp-stage.ts";
import { sleepers, withMark } from "../support/processes.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { AcpClient } from "./acp-client.ts";
import { ensureClient, goWithout } from "./install.ts";

const PACKAGE = "@agentclientprotocol/codex-acp";
const VERSION = "2.6.0";
const folder = await ensureClient(`codex-acp-${VERSION}`, [`${PACKAGE}@${VERSION}`]);
if (folder === undefined) goWithout(PACKAGE, `${VERSION} cannot be installed`);

const work = await mkdtemp(join(tmpdir(), "bobbin-acp-"));
const clients: AcpClient[] = [];
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await rm(work, { recursive: true, force: true });
});

async function open(home: string): Promise<AcpClient> {
  const script = join(folder!, "node_modules", PACKAGE, "dist", "index.js");
  const env = environment(home, {
    CODEX_PATH: BOBBIN,
    CODEX_HOME: join(work, "codex"),
    HOME: work,
    SHELL: "/bin/bash",
  });
  const client = new AcpClient(script, env, work);
  clients.push(client);
  await client.call("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  return client;
}

describe.skipIf(folder === undefined)(`${PACKAGE} ${VERSION}`, () => {
  it("[CLIENT-2] [CLIENT-9] opens a session, prompts, streams, cancels and prompts again", async () => {
    const client = await open(join(work, "talking"));
    const { sessionId, models } = await client.call("session/new", { cwd: work, mcpServers: [] });
    expect(models.currentModelId).toContain("offline");
    const prompt = (text: string) =>
      client.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

    const first = await prompt("hello editor");
    expect(first).toMatchObject({ stopReason: "end_turn", usage: { inputTokens: expect.any(Number) } });
    expect(client.text()).toContain("You said: hello editor");

    const from = client.told.length;
    const second = prompt(`slowly ${"word ".repeat(200)}`);
    await client.waitFor(() => client.text(from).includes("You said: slowly word"), "the start of an answer");
    client.notify("session/cancel", { sessionId });
    expect(await second).toMatchObject({ stopReason: "cancelled" });

    const after = client.told.length;
    expect(await prompt("still there")).toMatchObject({ stopReason: "end_turn" });
    expect(client.text(after)).toContain("You said: still there");
  });

  it("[CLIENT-6] [CLIENT-9] lists its session, and loads it with what was said", async () => {
    const home = join(work, "coming-back");
    const first = await open(home);
    const { sessionId } = await first.call("session/new", { cwd: work, mcpServers: [] });
    await first.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "remember me" }] });
    await first.close();

    const second = await open(home);
    const { sessions } = await second.call("session/list", { cwd: work });
    expect(sessions.map((session: { sessionId: string }) => session.sessionId)).toContain(sessionId);
    await second.call("session/load", { sessionId, cwd: work, mcpServers: [] });
    expect(second.text()).toContain("You said: remember me");
    const result = await second.call("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "and on" }],
    });
    expect(result).toMatchObject({ stopReason: "end_turn" });
    expect(second.text()).toContain("message 2 of this thread");
  });

  it("[CLIENT-14] asks the editor about a patch: once, for the session, and cancels the turn with a no", async () => {
    const editor = await Editor.open("patching");
    await editor.client.call("session/set_mode", { sessionId: editor.sessionId, modeId: "read-only" });
    const content = () => readFile(join(editor.cwd, "a.txt"), "utf8");
    expect(await editor.prompt("write a.txt: one", "allow_once")).toBe("end_turn");
    expect(await content()).toBe("one\n");
    expect(await editor.prompt("write a.txt: two", "cancel")).toBe("cancelled");
    expect(await content()).toBe("one\n");
    expect(await editor.prompt("write a.txt: three", "allow_for_session")).toBe("end_turn");
    expect(await editor.prompt("write a.txt: four")).toBe("end_turn");
    expect(await content()).toBe("four\n");
  });

  it.skipIf(!hasSandbox)(
    "[CLIENT-14] asks the editor about a command: once, for the session, and no; and ends one that runs",
    async () => {
      const editor = await Editor.open("commanding");
      const { client, sessionId, cwd } = editor;
      await client.call("session/set_mode", { sessionId, modeId: "workspace-write" });
      const exists = async (name: string): Promise<boolean> => (await readdir(cwd)).includes(name);
      expect(await editor.prompt("run: echo hello-$((1+1)); mkdir one two three")).toBe("end_turn");
      expect(client.text()).toContain("hello-2");

      expect(await editor.prompt("run: rm -rf one", "allow_once")).toBe("end_turn");
      expect(await exists("one")).toBe(false);
      expect(await editor.prompt("run: rm -rf two", "decline")).toBe("end_turn");
      expect(client.text()).toContain("the user declined it");
      expect(await editor.prompt("run: rm -rf two", "cancel")).toBe("cancelled");
      expect(await exists("two")).toBe(true);
      expect(await editor.prompt("run: rm -rf three", "allow_for_session")).toBe("end_turn");
      expect(await editor.prompt("run: rm -rf three")).toBe("end_turn");
      expect(await exists("three")).toBe(false);

      const from = client.told.length;
      // So many seconds that no other test sleeps as long.
      const seconds = `${300_000 + Math.floor(Math.random() * 100_000)}`;
      const long = editor.prompt(`run: sleep ${seconds}`);
      const isNew = (message: object): boolean => client.told.indexOf(message) >= from;
      await client.waitFor(
        (message) => isNew(message) && message.params?.update?.status === "in_progress",
        "a command that runs",
      );
      await eventually(() => sleepers(seconds).length === 1, "its process runs");
      client.notify("session/cancel", { sessionId });
      expect(await long).toBe("cancelled");
      await eventually(() => sleepers(seconds).length === 0, "its process is gone");
    },
  );

  it("[CLIENT-20] uses an MCP server that the editor names, asks about its tools, and leaves no process", async () => {
    const server = { name: "every", command: process.execPath, args: [EVERYTHING, "stdio"], env: [] };
    const editor = await Editor.open("mcp", [
      { ...server, env: [{ name: "GREETING", value: "hello-editor" }] },
    ]);
    const { client } = editor;
    expect(await editor.prompt('call echo {"message": "hi"}')).toBe("end_turn");
    expect(client.text()).toContain("Echo: hi");
    expect(await editor.prompt("call get_env {}")).toBe("end_turn");
    expect(client.text()).toContain("hello-editor");
    expect(client.text()).not.toContain("CODEX_PATH");
    await client.call("session/set_mode", { sessionId: editor.sessionId, modeId: "read-only" });
    const gzip = 'call gzip_file_as_resource {"name": "a.gz", "data": "data:text/plain,hi"}';
    expect(await editor.prompt(gzip, "allow_once")).toBe("end_turn");
    expect(client.text()).toContain("a.gz");
    expect(client.told.filter(({ params }) => params?.update?.status === "failed")).toEqual([]);
    const running = withMark("GREETING=hello-editor");
    expect(running.length).toBe(1);
    await client.close();
    await eventually(() => withMark("GREETING=hello-editor").length === 0, "the server has ended");
  });
});

/** Somebody with an editor, and a session in a folder. */
class Editor {
  readonly client: AcpClient;
  readonly sessionId: string;
  readonly cwd: string;

  private constructor(client: AcpClient, sessionId: string, cwd: string) {
    this.client = client;
    this.sessionId = sessionId;
    this.cwd = cwd;
  }

  static async open(name: string, mcpServers: readonly object[] = []): Promise<Editor> {
    const client = await open(join(work, name));
    const cwd = await realpath(await freshFolder("project"));
    const { sessionId } = await client.call("session/new", {
      cwd,
      mcpServers,
      // A first turn does not wait for servers that nobody knows; an editor can.
      _meta: { mcpStartupAwaitTimeoutMs: 20_000 },
    });
    return new Editor(client, sessionId, cwd);
  }

  /** Prompts, answers the one question with this option if one is expected, and gives the turn's end. */
  async prompt(text: string, optionId?: string): Promise<string> {
    const { client, sessionId } = this;
    const from = client.told.length;
    const ended = client.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    if (optionId !== undefined) {
      const { id, params } = await client.waitFor(
        (message) => message.method === "session/request_permission" && client.told.indexOf(message) >= from,
        "a question",
      );
      const ids = params.options.map((option: { optionId: string }) => option.optionId);
      expect(ids).toContain(optionId);
      client.answer(id, { outcome: { outcome: "selected", optionId } });
    }
    const { stopReason } = await ended;
    const asked = client.told.slice(from).filter(({ method }) => method === "session/request_permission");
    expect(asked).toHaveLength(optionId === undefined ? 0 : 1);
    return stopReason;
  }
}
