// What clients say beside the user's words: `additionalContext` of turns.
import { expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { type MockModel, responses, silent, sse, stream } from "../support/mock-model.ts";
import type { WireClient } from "../support/wire-client.ts";

const ok = stream(responses.stream(responses.message("ok")));
const from = (page: string, app = "APP") => ({
  browser: { value: page, kind: "untrusted" },
  app: { value: app, kind: "application" },
});
const shown = (page: string, app = "APP") => [
  `developer <app>${app}</app>`,
  `user <external_browser>${page}</external_browser>`,
];

async function turn(client: WireClient, threadId: string, text: string, additionalContext?: object) {
  const input = [{ type: "text", text }];
  const { turn } = await client.call("turn/start", { threadId, input, additionalContext });
  await client.turnCompleted(turn.id);
  return turn.id;
}

/** The conversation that the model was sent last, without its answers and what all begin with. */
function asked(model: MockModel): string[] {
  const { input } = model.asked.at(-1)!.body;
  const words: string[] = input.map(
    ({ role, content }: { role: string; content: { text: string }[] }) => `${role} ${content[0]!.text}`,
  );
  return words
    .slice(words.findIndex((word) => word.includes("<environment_context>")) + 1)
    .filter((word) => !word.startsWith("assistant"));
}

it("[TURN-14] gives the model the additional context of the input, once as long as it does not change", async () => {
  const { model, client, threadId } = await mockHost([ok]);
  await turn(client, threadId, "one", from("A"));
  expect(asked(model)).toEqual([...shown("A"), "user one"]);
  await turn(client, threadId, "two", from("A"));
  await turn(client, threadId, "three", from("B"));
  // Without any it no longer holds, and is said again when it comes back.
  await turn(client, threadId, "four");
  await turn(client, threadId, "five", from("B"));
  expect(asked(model)).toEqual([
    ...shown("A"),
    "user one",
    "user two",
    "user <external_browser>B</external_browser>",
    "user three",
    "user four",
    ...shown("B"),
    "user five",
  ]);
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  expect(JSON.stringify(thread)).not.toContain("external_browser");
});

it("[TURN-14] gives it to a steered turn, and truncates it in the middle if it is too long", async () => {
  const { model, client, threadId } = await mockHost([
    silent(sse(responses.message("Well").slice(0, -1))),
    ok,
  ]);
  const { turn: running } = await client.call("turn/start", {
    threadId,
    input: [{ type: "text", text: "go" }],
  });
  await client.about(threadId, "item/agentMessage/delta");
  const long = `${"x".repeat(5000)}END`;
  await client.call("turn/steer", {
    threadId,
    expectedTurnId: running.id,
    input: [{ type: "text", text: "and this" }],
    additionalContext: from(long),
  });
  await client.turnCompleted(running.id);
  const [first, app, page, steered] = asked(model);
  expect([first, app, steered]).toEqual(["user go", "developer <app>APP</app>", "user and this"]);
  expect(page!.length).toBeLessThan(4200);
  expect(page).toMatch(/x…1003 characters left out…x+END<\/external_browser>$/);
});

it("[TURN-14] keeps it over a restart and in a fork, and repeats it after a rollback", async () => {
  const { model, host, client, threadId, home } = await mockHost([ok]);
  await turn(client, threadId, "one", from("A"));
  host.signal("SIGKILL");
  await host.exited;
  const { client: again } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  await again.call("thread/resume", { threadId });
  await turn(again, threadId, "two", from("A"));
  expect(asked(model)).toEqual([...shown("A"), "user one", "user two"]);
  const { thread } = await again.call("thread/fork", { threadId });
  await turn(again, thread.id, "three", from("A"));
  expect(asked(model)).toEqual([...shown("A"), "user one", "user two", "user three"]);
  await again.call("thread/rollback", { threadId, numTurns: 2 });
  await turn(again, threadId, "four", from("A"));
  expect(asked(model)).toEqual([...shown("A"), "user four"]);
});

it("[TURN-14] gives it to the model after a compaction in the middle of its turn", async () => {
  const { model, client, threadId } = await mockHost(
    [ok, stream(responses.stream(responses.message("a summary"))), ok],
    ["model_context_window = 2000", "model_auto_compact_token_limit = 10"],
  );
  await turn(client, threadId, "one", from("OLD"));
  await turn(client, threadId, "two", from("NEW"));
  const last = asked(model).join("\n");
  expect(last).toContain("<external_browser>NEW</external_browser>");
  expect(last).toContain("a summary");
});

it("[TURN-14] refuses invalid names", async () => {
  const { client, threadId } = await mockHost([ok]);
  const refused = async (kind: string, name: string) => {
    const additionalContext = { a: { kind, name, value: "v" } };
    return (await client.refusal("turn/start", { threadId, input: [], additionalContext })).message;
  };
  expect(await refused("application", "page")).toBe(
    "additional context name is only supported for untrusted context",
  );
  expect(await refused("untrusted", "Nice Page")).toBe(
    "additional context name must match [a-z][a-z0-9_]{0,63}",
  );
});
