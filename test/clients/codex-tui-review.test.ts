// The Codex TUI, as it is published, where a model judges approvals: a local model plays the agent and the reviewer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { escalated, say } from "../support/model-replies.ts";
import { Cast, verdict } from "../support/review-stage.ts";
import { calls, hasTui, openTui } from "./tui-stage.ts";

describe.skipIf(!hasTui)("the Codex TUI", () => {
  it("[CLIENT-19] shows what a reviewer denied, and approves it with /approve", async () => {
    const file = join(await freshFolder(), "made");
    let called = 0;
    // It is also asked for the thread's title, by another thread.
    const agent: Reply = (response, asked) => {
      const items = asked.body.input as { type: string; role?: string; content?: { text?: string }[] }[];
      const last = items.findLastIndex(({ role }) => role === "user");
      const said = items[last]?.content?.[0]?.text ?? "";
      const isAnswered = items.slice(last).some(({ type }) => type === "function_call_output");
      if (!said.startsWith("please")) return say("A title")(response, asked);
      if (isAnswered) return say(`Heard ${said}`)(response, asked);
      return escalated(`touch ${file}`, {}, `call_${++called}`)(response, asked);
    };
    const cast = new Cast([agent], [verdict("deny", { rationale: "Nobody asked for it." })]);
    const model = await MockModel.start(cast.reply);
    const { home, cwd } = await modelHome("responses", model.url);
    const host = await spawnHost({
      home,
      args: ["--listen", "ws://127.0.0.1:0"],
      env: { SHELL: "/bin/bash" },
    });
    const terminal = await openTui(host, { args: ["--approve-for-me"], cwd });
    await terminal.shows("mock-model");
    await terminal.say("please begin");
    await terminal.shows("Request denied for codex to run");
    await terminal.shows("Heard please begin");
    expect(existsSync(file)).toBe(false);
    await terminal.say("/approve");
    await terminal.shows("Auto-review Denials");
    await terminal.shows("Nobody asked for it.");
    await terminal.press("Enter");
    await terminal.shows("Approval recorded");
    await terminal.say("please again");
    await terminal.shows("Heard please again");
    await eventually(() => existsSync(file), "the approved command runs");
    expect(cast.reviewer).toHaveLength(1);
    expect((await calls(host)).get("thread/approveGuardianDeniedAction")).toEqual(["ok"]);
  });
});
