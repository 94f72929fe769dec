// The Codex TUI, as it is published, with MCP servers: a local model calls their tools.
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { own } from "../support/mcp-call-stage.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { calls, hasTui, openTui } from "./tui-stage.ts";

/** `please TOOL JSON` calls the tool once, and says what came of it. The thread's title is asked for, too, by another thread. */
function agent(): Reply {
  let called = 0;
  return (response, asked) => {
    const items = asked.body.input as {
      type: string;
      role?: string;
      content?: { text?: string }[];
      output?: unknown;
    }[];
    const last = items.findLastIndex(({ role }) => role === "user");
    const said = items[last]?.content?.[0]?.text ?? "";
    const [verb, tool = "", args = "{}"] = said.split(" ");
    if (verb !== "please") return say("A title")(response, asked);
    const answer = items.slice(last).find(({ type }) => type === "function_call_output");
    if (answer !== undefined) {
      const text = /hello|declined it|cancelled it/.exec(JSON.stringify(answer.output))?.[0];
      return say(`${tool} came to: ${text}`)(response, asked);
    }
    const call = responses.call(tool, args, `call_${++called}`, "mcp__own");
    return stream(responses.stream(call))(response, asked);
  };
}

describe.skipIf(!hasTui)("the Codex TUI", () => {
  it("[CLIENT-29] asks about calls of MCP servers, and does what the user says", async () => {
    const model = await MockModel.start(agent());
    const { home, cwd } = await modelHome("responses", model.url, { provider: [own()] });
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const terminal = await openTui(host, { cwd });
    await terminal.shows("mock-model");
    await terminal.say('please echo {"message":"hello"}');
    await terminal.shows('Allow the MCP server own to run the tool "echo"?');
    await terminal.shows("Allow for this session");
    await terminal.press("Enter");
    await terminal.shows("echo came to: hello");
    await terminal.shows("own.echo");
    // Cancel fails the call, and the turn goes on.
    await terminal.say("please pid");
    await terminal.shows('Allow the MCP server own to run the tool "pid"?');
    await terminal.press("Escape");
    await terminal.shows("pid came to: cancelled it");
    const refused = [...(await calls(host))].filter(([, outcomes]) => outcomes.some((one) => one !== "ok"));
    expect(refused).toEqual([]);
  });

  it("[CLIENT-29] fills in the form that a server asks for", async () => {
    const model = await MockModel.start(agent());
    const approved = 'default_tools_approval_mode = "approve"';
    const { home, cwd } = await modelHome("responses", model.url, { provider: [own(approved)] });
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const terminal = await openTui(host, { cwd });
    await terminal.shows("mock-model");
    await terminal.say("please ask");
    await terminal.shows("Which color?");
    await terminal.say("hello");
    await terminal.shows("ask came to: hello");
  });
});
