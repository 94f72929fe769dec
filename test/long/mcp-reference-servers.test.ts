// The reference servers of MCP from npm: all that they offer, over stdio and over streamable HTTP.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { APPROVED, elicitation, mcpItems, mcpStage, textsOf } from "../support/mcp-call-stage.ts";
import { everythingOverHttp, stdioOverHttp } from "../support/mcp-http.ts";
import { EVERYTHING, FILESYSTEM, mcpServer } from "../support/mcp-stage.ts";
import { type Reply, responses, stream } from "../support/mock-model.ts";
import { journalOf, outputs, say } from "../support/rap-stage.ts";

const REQUIRED = "required = true";
const accept = (content: object | null = null) => ({ action: "accept", content, _meta: null });

let calls = 0;
/** A reply in which the model calls a tool of a server. */
const call = (server: string, tool: string, args: object = {}): Reply =>
  stream(responses.stream(responses.call(tool, JSON.stringify(args), `call_${++calls}`, `mcp__${server}`)));
const every = (tool: string, args: object = {}): Reply => call("every", tool, args);
const own = (tool: string, args: object): Reply =>
  stream(responses.stream(responses.call(tool, JSON.stringify(args), `call_${++calls}`)));

/** `[mcp_servers.every]` on a transport. */
const TABLES: Readonly<Record<string, () => Promise<string>>> = {
  stdio: async () => mcpServer("every", EVERYTHING, ["stdio"], [REQUIRED, APPROVED]),
  "streamable HTTP": async () =>
    ["[mcp_servers.every]", `url = "${await everythingOverHttp()}"`, REQUIRED, APPROVED].join("\n"),
};

describe.each(Object.keys(TABLES))("server-everything over %s", (transport) => {
  const table = TABLES[transport]!;

  it("[MCP-16] gives the model text, images, resources and structured content, and clients progress", async () => {
    const { client, threadId, model, cwd } = await mcpStage(
      [
        every("echo", { message: "hi" }),
        every("get_tiny_image"),
        every("get_structured_content", { location: "Chicago" }),
        every("get_resource_links", { count: 2 }),
        every("get_resource_reference", { resourceType: "Text", resourceId: 1 }),
        every("trigger_long_running_operation", { duration: 0.2, steps: 4 }),
        every("get_roots_list"),
        every("echo"),
        say("ok"),
      ],
      { servers: [await table()] },
    );
    await client.turn(threadId, "go");
    const [echo, image, structured, links, reference, long, roots] = outputs(model, 8);
    expect(echo).toEqual([{ type: "input_text", text: "Echo: hi" }]);
    expect(image[1]).toMatchObject({
      type: "input_image",
      image_url: expect.stringMatching(/^data:image\/png;base64,\w/),
    });
    expect(JSON.parse(structured)).toMatchObject({ temperature: 36, humidity: 82 });
    expect(links.slice(1).map(({ text }: { text: string }) => JSON.parse(text))).toMatchObject([
      { type: "resource_link", uri: "demo://resource/dynamic/blob/1" },
      { type: "resource_link", uri: "demo://resource/dynamic/text/2" },
    ]);
    expect(reference[1].text).toMatch(/^Resource demo:\/\/resource\/dynamic\/text\/1:\nResource 1: /);
    expect(long[0].text).toContain("Long running operation completed.");
    expect(roots[0].text).toContain(`URI: ${pathToFileURL(cwd).href}\n`);
    const items = mcpItems(client);
    expect(items.map(({ status }) => status)).toEqual([...Array(7).fill("completed"), "failed"]);
    const progress = client.told("item/mcpToolCall/progress").map(({ params }) => params.itemId);
    expect(new Set(progress)).toEqual(new Set([items[5].id]));
    // What the server says about itself comes with its tools.
    const { tools } = model.asked[0]!.body;
    expect(tools.find(({ name }: { name: string }) => name === "mcp__every").description).toContain(
      "Everything Server",
    );
  });

  it("[MCP-16] asks for approval, with a form, for a visit of a page, and to use the model", async () => {
    const url = "https://example.org/page";
    const { client, threadId, model } = await mcpStage(
      [
        every("gzip_file_as_resource", { name: "a.gz", data: "data:text/plain,hi" }),
        every("trigger_elicitation_request"),
        every("trigger_url_elicitation", { url, message: "Please visit it." }),
        every("trigger_sampling_request", { prompt: "a word", maxTokens: 50 }),
        say("From the model."),
        say("ok"),
      ],
      {
        servers: [
          await table(),
          '[mcp_servers.every.tools."gzip-file-as-resource"]',
          'approval_mode = "prompt"',
        ],
      },
    );
    const turnId = await client.say(threadId, "go");
    let from = 0;
    const asked = async () => {
      const question = await elicitation(client, from);
      from = client.frames.indexOf(question) + 1;
      return question;
    };
    const approval = await asked();
    expect(approval.params._meta).toMatchObject({ codex_approval_kind: "mcp_tool_call" });
    client.send({ id: approval.id, result: accept() });
    const form = await asked();
    expect(form.params).toMatchObject({ mode: "form", requestedSchema: { required: ["name"] } });
    client.send({ id: form.id, result: accept({ name: "Ada", integer: 7 }) });
    const page = await asked();
    expect(page.params).toMatchObject({ mode: "url", url, message: "Please visit it." });
    client.send({ id: page.id, result: accept() });
    const sampling = await asked();
    expect(sampling.params.message).toContain("ask this thread's model");
    client.send({ id: sampling.id, result: accept() });
    await client.turnCompleted(turnId);
    const texts = mcpItems(client).map(textsOf);
    expect(mcpItems(client).map(({ status }) => status)).toEqual(Array(4).fill("completed"));
    expect(texts[1]).toContain("- Name: Ada\n- Favorite Integer: 7");
    expect(texts[2]).toContain("User completed the URL elicitation flow.");
    expect(texts[3]).toContain('"text": "From the model."');
    // The model sees what the server sent, and nothing of the thread.
    expect(model.asked[4]!.body.input).toMatchObject([
      { role: "user", content: [{ text: "Resource trigger-sampling-request context: a word" }] },
    ]);
  });

  it("[MCP-16] lists and reads resources for models and clients, and goes on after a cancelled call", async () => {
    const uri = "demo://resource/dynamic/text/1";
    const { client, threadId, model } = await mcpStage(
      [
        own("list_mcp_resources", { server: "every" }),
        own("list_mcp_resource_templates", { server: "every" }),
        own("read_mcp_resource", { server: "every", uri }),
        every("trigger_long_running_operation", { duration: 600, steps: 2 }),
        every("echo", { message: "still there" }),
        say("ok"),
      ],
      { servers: [await table()] },
    );
    const turnId = await client.say(threadId, "go");
    await client.until(
      () => mcpItems(client, "item/started").some(({ tool }) => tool === "trigger-long-running-operation"),
      "the long call",
    );
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    await client.turn(threadId, "again");
    const [resources, templates, read] = outputs(model, 3);
    expect(JSON.parse(resources[0].text).resources.length).toBeGreaterThan(0);
    expect(JSON.parse(templates[0].text).resourceTemplates).toContainEqual(
      expect.objectContaining({ uriTemplate: "demo://resource/dynamic/text/{resourceId}" }),
    );
    expect(read[0].text).toContain(`Resource ${uri}:\n`);
    expect(mcpItems(client).map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      "list_mcp_resources completed",
      "list_mcp_resource_templates completed",
      "read_mcp_resource completed",
      "trigger-long-running-operation failed",
      "echo completed",
    ]);
    const direct = { threadId, server: "every", tool: "get-sum", arguments: { a: 2, b: 3 } };
    expect((await client.call("mcpServer/tool/call", direct)).content[0].text).toContain("5");
    const { contents } = await client.call("mcpServer/resource/read", { threadId, server: "every", uri });
    expect(contents).toMatchObject([{ uri, mimeType: "text/plain" }]);
    const { data } = await client.call("mcpServerStatus/list", { threadId });
    expect(data).toMatchObject([{ name: "every", runtimeStatus: "connected" }]);
    expect(Object.keys(data[0].tools)).toEqual(expect.arrayContaining(["echo", "get-roots-list"]));
  });
});

/** `[mcp_servers.files]` on a transport. The server itself knows only stdio. */
const FILES: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  stdio: async (folder) => mcpServer("files", FILESYSTEM, [folder], [REQUIRED]),
  "streamable HTTP, by a bridge": async (folder) =>
    ["[mcp_servers.files]", `url = "${await stdioOverHttp(FILESYSTEM, [folder])}"`, REQUIRED].join("\n"),
};

describe.each(Object.keys(FILES))("server-filesystem over %s", (transport) => {
  it("[MCP-16] works in the thread's roots: writes with approval, reads, and returns sounds whole", async () => {
    const elsewhere = await freshFolder("elsewhere");
    const sound = Buffer.concat([Buffer.from("RIFF....WAVE"), Buffer.alloc(100_000, 7)]);
    const stage = await mcpStage([say("ready")], {
      servers: [await FILES[transport]!(elsewhere)],
    });
    const { client, threadId, model, cwd } = stage;
    const allowed = async (): Promise<string> => {
      const params = { threadId, server: "files", tool: "list_allowed_directories" };
      return (await client.call("mcpServer/tool/call", params)).content[0].text;
    };
    // The server asks for roots after it has connected, and they replace its arguments.
    await eventually(async () => (await allowed()) === `Allowed directories:\n${cwd}`, "it has the roots");
    await writeFile(join(cwd, "sound.wav"), sound);
    model.reply(
      call("files", "write_file", { path: join(cwd, "a.txt"), content: "written" }),
      call("files", "read_text_file", { path: join(cwd, "a.txt") }),
      call("files", "read_text_file", { path: join(elsewhere, "b.txt") }),
      call("files", "read_media_file", { path: join(cwd, "sound.wav") }),
      say("ok"),
    );
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params._meta).toMatchObject({ codex_approval_kind: "mcp_tool_call" });
    client.send({ id, result: accept() });
    await client.turnCompleted(turnId);
    expect(client.count("mcpServer/elicitation/request")).toBe(1);
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("written");
    const [write, read, refused, media] = mcpItems(client);
    expect([write.status, read.status, refused.status, media.status]).toEqual([
      "completed",
      "completed",
      "failed",
      "completed",
    ]);
    expect(textsOf(read)).toContain("written");
    expect(textsOf(refused)).toContain("Access denied");
    const data = sound.toString("base64");
    expect(media.result.content).toMatchObject([{ type: "audio", data, mimeType: "audio/wav" }]);
    expect(outputs(model, model.asked.length - 1)[3]).toContainEqual({
      type: "input_audio",
      audio_url: `data:audio/wav;base64,${data}`,
    });
    expect((await journalOf(stage)).text).not.toContain(data.slice(0, 1000));
  });
});
