// The published provider for the AI SDK, with our program in place of its own.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { sleepers } from "../support/processes.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { ensureClient, goWithout } from "./install.ts";

const PACKAGE = "ai-sdk-provider-codex-app-server";
const VERSION = "1.1.7";
// The newest that it was made for; the next major one needs a later Node.
const AI = "6.0.326";
const folder = await ensureClient(`${PACKAGE}-${VERSION}`, [
  `${PACKAGE}@${VERSION}`,
  `ai@${AI}`,
  "zod@4.6.7",
]);
if (folder === undefined) goWithout(PACKAGE, `${VERSION} cannot be installed`);

/** As much of the two as is used here: their own types are not here to be checked against. */
interface Provider {
  createCodexAppServer(options: object): (model: string) => { dispose(): void };
}
interface Answer {
  readonly text: string;
  readonly finishReason: string;
}
interface Session {
  readonly threadId: string;
  interrupt(): Promise<void>;
}
interface Ai {
  generateText(options: object): Promise<Answer>;
  streamText(options: object): {
    readonly textStream: AsyncIterable<string>;
    readonly fullStream: AsyncIterable<{ readonly type: string }>;
    readonly finishReason: Promise<string>;
  };
}

async function load<T>(name: string): Promise<T> {
  const path = createRequire(join(folder!, "package.json")).resolve(name);
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as T;
}

const work = await mkdtemp(join(tmpdir(), "bobbin-ai-"));
const models: { dispose(): void }[] = [];
afterAll(async () => {
  for (const model of models) model.dispose();
  await rm(work, { recursive: true, force: true, maxRetries: 5 });
});

async function open(settings: object = {}): Promise<{ ai: Ai; model: { dispose(): void } }> {
  const { createCodexAppServer } = await load<Provider>(PACKAGE);
  const env = environment(join(work, "home"), { SHELL: "/bin/bash" });
  const provider = createCodexAppServer({
    defaultSettings: { codexPath: BOBBIN, cwd: work, env, ...settings },
  });
  const model = provider("offline");
  models.push(model);
  return { ai: await load<Ai>("ai"), model };
}

describe.skipIf(folder === undefined)(`${PACKAGE} ${VERSION}`, () => {
  it("[CLIENT-10] generates a text, and another one on the same thread", async () => {
    const { ai, model } = await open();
    const first = await ai.generateText({ model, prompt: "hello library" });
    expect(first).toMatchObject({
      finishReason: "stop",
      text: expect.stringContaining("You said: hello library"),
    });
    // It begins to listen when the start of the turn was answered, and would miss what is said at once.
    const second = await ai.generateText({ model, prompt: "again, slowly" });
    expect(second.text).toContain("message 2 of this thread");
  });

  it("[CLIENT-10] streams a text in pieces, and stops when it is aborted", async () => {
    let session: Session | undefined;
    const { ai, model } = await open({ onSessionCreated: (made: Session) => (session = made) });
    const { textStream, finishReason } = ai.streamText({ model, prompt: "hello stream" });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join("")).toContain("You said: hello stream");
    expect(await finishReason).toBe("stop");

    const long = ai.streamText({ model, prompt: `slowly ${"word ".repeat(200)}` });
    let heard = "";
    for await (const piece of long.textStream) {
      heard += piece;
      if (heard.endsWith("slowly word word ")) await session!.interrupt();
    }
    expect(heard.length).toBeLessThan(200);
  });

  it("[CLIENT-10] goes on with a thread of an earlier process", async () => {
    let resume: string | undefined;
    const { ai, model } = await open({ onSessionCreated: ({ threadId }: Session) => (resume = threadId) });
    await ai.generateText({ model, prompt: "for later" });
    for (const one of models) one.dispose();
    const later = await open({ resume });
    const { text } = await later.ai.generateText({ model: later.model, prompt: "it is later" });
    expect(text).toContain("message 2 of this thread");
  });

  it("[CLIENT-15] changes files where that needs no approval", async () => {
    const cwd = await realpath(await freshFolder("project"));
    const { ai, model } = await open({ cwd, sandboxMode: "workspace-write", approvalMode: "never" });
    const { text } = await ai.generateText({ model, prompt: "write a.txt: slowly" });
    expect(text).toContain("Success. Updated the following files:");
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("slowly\n");
  });

  it.skipIf(!hasSandbox)("[CLIENT-15] runs a command, and ends one that runs", async () => {
    const cwd = await realpath(await freshFolder("project"));
    let session: Session | undefined;
    const { ai, model } = await open({
      cwd,
      sandboxMode: "workspace-write",
      approvalMode: "never",
      onSessionCreated: (made: Session) => (session = made),
    });
    // It may miss what is said at once.
    const { text } = await ai.generateText({ model, prompt: "run: echo slowly-$((1+1)) | tee made" });
    expect(text).toContain("slowly-2");
    expect(await readFile(join(cwd, "made"), "utf8")).toBe("slowly-2\n");
    const refused = await ai.generateText({ model, prompt: "run: rm -rf made # slowly" });
    expect(refused.text).toContain("`exec_command` failed:");
    expect(await readFile(join(cwd, "made"), "utf8")).toBe("slowly-2\n");

    // So many seconds that no other test sleeps as long.
    const seconds = `${400_000 + Math.floor(Math.random() * 100_000)}`;
    const { textStream } = ai.streamText({ model, prompt: `run: sleep ${seconds}` });
    const ended = (async () => {
      for await (const _piece of textStream);
    })();
    await eventually(() => sleepers(seconds).length === 1, "the command runs");
    await session!.interrupt();
    await ended;
    await eventually(() => sleepers(seconds).length === 0, "its process is gone");
  });

  it("[CLIENT-15] cannot answer an approval, which waits until the turn is interrupted", async () => {
    const cwd = await realpath(await freshFolder("project"));
    await writeFile(join(cwd, "kept"), "");
    let session: Session | undefined;
    const { ai, model } = await open({
      cwd,
      sandboxMode: "danger-full-access",
      approvalMode: "on-request",
      onSessionCreated: (made: Session) => (session = made),
    });
    const { fullStream } = ai.streamText({ model, prompt: "run: rm -rf kept # slowly" });
    const seen: string[] = [];
    for await (const { type } of fullStream) {
      seen.push(type);
      // The command is shown, and asked about in the next moment. The provider drops every request of the host.
      if (type === "tool-call") await session!.interrupt();
    }
    // What was asked about has an end for the provider, too.
    expect(seen).toContain("tool-error");
    expect(seen.at(-1)).toBe("finish");
    expect(existsSync(join(cwd, "kept"))).toBe(true);
    const { text } = await ai.generateText({ model, prompt: "still there, slowly?" });
    expect(text).toContain("You said: still there");
  });
});
