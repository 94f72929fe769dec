// The published TypeScript SDK of the Codex CLI, which runs `codex exec`, with our program in place of its own.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { MockModel, refuse, silent } from "../support/mock-model.ts";
import { run, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { ensureClient, goWithout } from "./install.ts";

const PACKAGE = "@openai/codex-sdk";
const VERSION = "0.163.0";
const folder = await ensureClient(`codex-sdk-${VERSION}`, [`${PACKAGE}@${VERSION}`]);
if (folder === undefined) goWithout(PACKAGE, `${VERSION} cannot be installed`);

/** As much of the SDK as is used here: its own types are not here to be checked against. */
interface Turn {
  readonly finalResponse: string;
  readonly items: readonly { readonly type: string; readonly text?: string; readonly status?: string }[];
  readonly usage: object | null;
}
interface Thread {
  readonly id: string | null;
  run(input: string | readonly object[], options?: object): Promise<Turn>;
  runStreamed(
    input: string,
    options?: object,
  ): Promise<{ readonly events: AsyncGenerator<{ readonly type: string }> }>;
}
interface Sdk {
  readonly Codex: new (
    options: object,
  ) => { startThread(options?: object): Thread; resumeThread(id: string, options?: object): Thread };
}

const work = await realpath(await mkdtemp(join(tmpdir(), "bobbin-sdk-")));
afterAll(() => rm(work, { recursive: true, force: true, maxRetries: 5 }));

async function stage(...replies: Parameters<typeof MockModel.start>) {
  const model = await MockModel.start(...replies);
  const path = join(folder!, "node_modules", PACKAGE, "dist", "index.js");
  const { Codex } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Sdk;
  const mock = { name: "Mock", base_url: model.url, wire_api: "responses" };
  const codex = new Codex({
    codexPathOverride: BOBBIN,
    // Without a wrapper: the SDK isolates by CODEX_HOME.
    env: environment("", { BOBBIN_HOME: "", CODEX_HOME: await freshFolder("codex"), HOME: work }),
    config: { model_provider: "mock", model: "mock-model", model_providers: { mock } },
  });
  return { model, codex };
}

const said = (model: MockModel, nth: number): string => JSON.stringify(model.asked[nth]!.body.input);

describe.skipIf(folder === undefined)(`${PACKAGE} ${VERSION}`, () => {
  it("[CLI-12] runs turns one after the other, and goes on with a thread by its id", async () => {
    const { model, codex } = await stage(say("One"), say("Two"), say("Three"));
    const thread = codex.startThread({ workingDirectory: work, threadSource: "ci" });
    const first = await thread.run("first");
    expect(first).toMatchObject({ finalResponse: "One", usage: { input_tokens: 100, output_tokens: 20 } });
    expect(thread.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await thread.run("second")).finalResponse).toBe("Two");
    const again = codex.resumeThread(thread.id!, {
      workingDirectory: work,
      model: "another-model",
      sandboxMode: "workspace-write",
      approvalPolicy: "never",
      modelReasoningEffort: "high",
      networkAccessEnabled: true,
      webSearchMode: "disabled",
      skipGitRepoCheck: true,
    });
    expect((await again.run("third")).finalResponse).toBe("Three");
    expect(again.id).toBe(thread.id);
    for (const text of ["first", "One", "second", "Two", "third"]) expect(said(model, 2)).toContain(text);
    expect(model.asked[2]!.body).toMatchObject({ model: "another-model", reasoning: { effort: "high" } });
  });

  it("[CLI-12] sends images, several texts, a schema, and folders besides the working folder", async () => {
    const { model, codex } = await stage(say('{"ok":true}'));
    const image = join(work, "dot.png");
    await writeFile(
      image,
      Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64",
      ),
    );
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
      additionalProperties: false,
    };
    const thread = codex.startThread({ additionalDirectories: [work, tmpdir()] });
    const input = [
      { type: "text", text: "What is" },
      { type: "text", text: "this?" },
      { type: "local_image", path: image },
    ];
    const turn = await thread.run(input, { outputSchema: schema });
    expect(turn.finalResponse).toBe('{"ok":true}');
    expect(model.asked[0]!.body.text.format.schema).toEqual(schema);
    expect(said(model, 0)).toContain("What is\\n\\nthis?");
    expect(said(model, 0)).toContain("data:image/png;base64,");
  });

  it.skipIf(!hasSandbox)("[CLI-12] streams events in their order, also of commands", async () => {
    const { codex } = await stage(run({ cmd: "echo hello" }), say("Done"));
    const thread = codex.startThread({ sandboxMode: "workspace-write", approvalPolicy: "never" });
    const { events } = await thread.runStreamed("go");
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    expect(types).toEqual([
      "thread.started",
      "item.completed",
      "turn.started",
      "item.started",
      "item.completed",
      "item.completed",
      "turn.completed",
    ]);
  });

  it("[CLI-12] reports a failed turn, and is aborted", async () => {
    const failing = await stage(refuse(400, { error: { message: "no such luck" } }));
    await expect(failing.codex.startThread().run("go")).rejects.toThrow(/no such luck/);
    const { model, codex } = await stage(silent(""));
    const stop = new AbortController();
    const running = codex.startThread().run("go", { signal: stop.signal });
    await eventually(() => model.asked.length === 1, "a request to the model");
    stop.abort();
    await expect(running).rejects.toThrow();
  });
});
