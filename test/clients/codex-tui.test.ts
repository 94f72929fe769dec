// The reference program's own terminal interface, as it is published, against our host.
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { calls, hasTui, openTui } from "./tui-stage.ts";

/** Words enough to be still speaking when somebody has typed a line, and few enough to fit into one. */
const LONG = " x".repeat(70);

describe.skipIf(!hasTui)("the Codex TUI", () => {
  it("[CLIENT-1] [CLIENT-7] [CLIENT-8] starts, talks, steers, interrupts, leaves, comes back and talks on", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const first = await openTui(host);
    await first.shows("Offline (built in)");
    await first.say("hello terminal");
    await first.shows("You said: hello terminal");

    await first.say(`say slowly${LONG}`);
    await first.shows("You said: say slowly x x");
    await first.say("steering wheel");
    await first.shows("You said: steering wheel");

    await first.say(`once more slowly${LONG}`);
    await first.shows("You said: once more slowly x x");
    await first.press("Escape");
    await first.shows(/interrupted/i);

    await first.press("C-c");
    const screen = await first.shows("left with 0");
    const [threadId] = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(screen) ?? [];
    expect(threadId, screen).toBeDefined();

    const second = await openTui(host, { args: ["resume", threadId!] });
    await second.shows("You said: steering wheel");
    await second.say("are you back");
    await second.shows("You said: are you back");
    await second.shows("message 5 of this thread");
    await second.press("C-c");
    await second.shows("left with 0");

    // The one that people see; what its title was asked of is gone, or hidden.
    const { data } = await (await host.join()).call("thread/list", {});
    expect(data.map(({ id }: { id: string }) => id)).toEqual([threadId]);
    const called = await calls(host);
    expect(called.get("turn/steer"), "it was still speaking").toContain("ok");
    expect(called.get("turn/interrupt")).toEqual(["ok"]);
    // A line that is typed just before a turn's end is sent as a steer that comes too late, and then as a turn.
    called.set(
      "turn/steer",
      called.get("turn/steer")!.filter((outcome) => outcome !== "noActiveTurnToSteer"),
    );
    const refused = [...called].filter(([, outcomes]) => outcomes.some((outcome) => outcome !== "ok"));
    expect(refused).toEqual([]);
  });

  it("[CLIENT-7] [CLIENT-11] takes other permissions, also the same once more, and talks on", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const terminal = await openTui(host);
    await terminal.shows("Offline (built in)");
    // A menu that is opened before its thread has started is closed again by that.
    await terminal.say("a word before");
    await terminal.shows("You said: a word before");
    for (const [choice, word] of [
      ["3", "first"],
      ["4", "second"],
      ["4", "third"],
    ] as const) {
      await terminal.say("/permissions");
      await terminal.shows("Update Model Permissions");
      await terminal.press(choice);
      if (choice === "3") {
        await terminal.shows("Enable full access?");
        await terminal.press("Enter");
      }
      await terminal.gone(/Update Model Permissions|Enable full access/);
      await terminal.say(`${word} word`);
      await terminal.shows(`You said: ${word} word`);
    }
    const client = await host.join(undefined, { experimentalApi: true });
    const { data } = await client.call("thread/list", {});
    const { sandbox, activePermissionProfile } = await client.call("thread/resume", { threadId: data[0].id });
    expect([sandbox.type, activePermissionProfile.id]).toEqual(["readOnly", ":read-only"]);
  });

  it("[CLIENT-12] shows the model's plan and asks the user for it, on a local model", async () => {
    const plan = [
      { step: "Look around", status: "completed" },
      { step: "Ask the user", status: "in_progress" },
    ];
    const question = {
      id: "colour",
      header: "Colour",
      question: "Which colour shall it be?",
      options: [
        { label: "Blue (Recommended)", description: "Like the sea." },
        { label: "Green", description: "Like the wood." },
      ],
    };
    const model = await MockModel.start((response, asked) => {
      const { input } = asked.body as { input: { type: string; output?: unknown }[] };
      const outputs = input.filter(({ type }) => type === "function_call_output");
      const answer =
        !JSON.stringify(input).includes("paint it") || outputs.length > 1
          ? responses.message(`It was ${JSON.stringify(outputs[1]?.output ?? "nothing")}`)
          : outputs.length === 0
            ? responses.call("update_plan", JSON.stringify({ plan }), "call_plan")
            : responses.call("request_user_input", JSON.stringify({ questions: [question] }), "call_ask");
      return stream(responses.stream(answer))(response, asked);
    });
    const { home } = await modelHome("responses", model.url);
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const terminal = await openTui(host);
    await terminal.shows("mock-model");
    await terminal.say("paint it");
    await terminal.shows("Ask the user");
    await terminal.shows("Which colour shall it be?");
    await terminal.press("Down");
    await terminal.press("Enter");
    await terminal.shows(/It was .*Green/);
    await terminal.press("C-c");
    await terminal.shows("left with 0");
  });

  it("[CLIENT-13] compacts, reviews and plans, on a local model", async () => {
    const output = {
      findings: [{ title: "[P1] Bad", body: "Because.", code_location: { absolute_file_path: "/a.ts" } }],
      overall_explanation: "Nearly.",
    };
    const plan = "Before\n<proposed_plan>\n# My plan\n- one\n</proposed_plan>\nAfter";
    const model = await MockModel.start((response, asked) => {
      const last = JSON.stringify(asked.body.input.at(-1));
      const answers: readonly (readonly [RegExp, string])[] = [
        [/write a summary/, "IN SHORT"],
        [/look at it/, JSON.stringify(output)],
        [/plan it/, plan],
      ];
      const text = answers.find(([words]) => words.test(last))?.[1] ?? "That is my reply";
      return stream(responses.stream(responses.message(text)))(response, asked);
    });
    const { home } = await modelHome("responses", model.url);
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const terminal = await openTui(host);
    await terminal.shows("mock-model");
    await terminal.say("hello");
    await terminal.shows("That is my reply");
    await terminal.say("/compact");
    await terminal.shows("Context compacted");
    await terminal.say("/review look at it");
    await terminal.shows("Code review started: look at it");
    await terminal.shows("Code review finished");
    await terminal.shows("[P1] Bad");
    await terminal.say("/plan");
    await terminal.shows("Plan mode");
    await terminal.say("plan it");
    await terminal.shows(/Proposed Plan.*My plan/s);
    await terminal.shows(/Before.*After/s);
    await terminal.shows("Implement this plan?");
    const called = await calls(host);
    const refused = [...called].filter(([, outcomes]) => outcomes.some((outcome) => outcome !== "ok"));
    expect(refused).toEqual([]);
  });
});
