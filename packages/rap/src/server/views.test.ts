import { expect, it } from "vitest";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { type JsonObject, memoryData, tool } from "./index.ts";

const show = tool({
  name: "show",
  description: "Shows.",
  input: { type: "object" },
  async run({ type = "diff", content = null }, ctx) {
    await ctx.view(type as string, content as JsonObject | null);
    return "shown";
  },
});

it("[RAPS-120] a view is sent to the host unchanged", async () => {
  const world = new RapWorld();
  const content = { patch: "--- a\n+++ b", nested: [{ "<script>": null }] };
  await world.result(world.server({ tools: [show] }), "show", { content }, { thread: "t" });
  expect(world.posts[0]!.message).toEqual({ type: "view_update", group_id: "t", view_type: "diff", content });
  expect(world.messages().map(({ type }) => type)).toEqual(["view_update", "tool_result"]);
});

it("[RAPS-121] a view is cleared only if it is shown, over a restart too", async () => {
  const world = new RapWorld();
  const data = memoryData();
  const first = world.server({ tools: [show], data });
  await world.result(first, "show", { content: null }, { id: "a" });
  await world.result(first, "show", { content: {} }, { id: "b" });
  expect(world.messages().map(({ type }) => type)).toEqual(["tool_result", "tool_result"]);
  await world.result(first, "show", { content: { patch: "x" } }, { id: "c" });
  await world.result(first, "show", { type: "log", content: null }, { id: "d" });
  await first.close();
  const server = world.server({ tools: [show], data });
  await world.result(server, "show", { content: null }, { id: "e" });
  await world.result(server, "show", { content: null }, { id: "f" });
  const views = world.posts.map(({ message }) => message).filter(({ type }) => type === "view_update");
  expect(views).toMatchObject([{ content: { patch: "x" } }, { view_type: "diff", content: {} }]);
});

it("a view that the host refuses is logged, and the call still has its result", async () => {
  const world = new RapWorld();
  world.answer = ({ message }) => (message.type === "view_update" ? 400 : 200);
  const server = world.server({ tools: [show] });
  expect((await world.result(server, "show", { content: { a: 1 } }, { id: "a" })).text).toBe("shown");
  expect(world.logs).toMatchObject([
    { level: "warn", says: "a view was not delivered to its host", how: "refused" },
  ]);
  const wrong = await world.result(server, "show", { type: "", content: { a: 1 } }, { id: "b" });
  expect(wrong.text).toMatch(/^Error: The tool failed/);
});
