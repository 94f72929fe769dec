import { expect, it } from "vitest";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { LIMITS, parseCallback } from "../wire/index.ts";
import { content, type DisplaySegment, type ToolOutput, tool } from "./index.ts";

const PNG = { type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" } as const;

async function resultOf(output: unknown, ...display: DisplaySegment[]): Promise<Record<string, unknown>> {
  const world = new RapWorld();
  const giving = tool({
    name: "giving",
    description: "Gives.",
    run: (_, ctx) => {
      if (display.length > 0) ctx.display(...display);
      return output as ToolOutput;
    },
  });
  const result = await world.result(world.server({ tools: [giving] }), "giving");
  expect(parseCallback(JSON.parse(JSON.stringify(result))).ok).toBe(true);
  return result as unknown as Record<string, unknown>;
}

it("[RAPS-40] a string is sent as it is, and other values as JSON text", async () => {
  expect(await resultOf("plain\ntext")).toMatchObject({ text: "plain\ntext" });
  expect(await resultOf({ count: 1, of: ["a"] })).toMatchObject({ text: '{"count":1,"of":["a"]}' });
  expect(await resultOf([1, 2])).toMatchObject({ text: "[1,2]" });
  expect(await resultOf(0)).toMatchObject({ text: "0" });
  expect(await resultOf(undefined)).toMatchObject({ text: "Done." });
  expect((await resultOf(10n))["text"]).toMatch(/^Error: The tool failed/);
});

it("[RAPS-41] images come after a text that describes them", async () => {
  const described = { type: "text", text: "A logo." } as const;
  expect(await resultOf(content(described, PNG))).toMatchObject({ content: [described, PNG] });
  expect(await resultOf(content(PNG))).toMatchObject({
    content: [{ type: "text", text: "The result is an image." }, PNG],
  });
  expect(await resultOf(content(PNG, PNG))).toMatchObject({
    content: [{ type: "text", text: "The result has 2 images." }, PNG, PNG],
  });
  expect(await resultOf(content())).toMatchObject({ text: "Done." });
});

it("[RAPS-46] line breaks in base64 are removed", async () => {
  const lines = { ...PNG, data: "iVBORw0K\r\nGgo=\n" };
  const { mediaType } = PNG;
  expect(await resultOf(content({ type: "text", text: "A logo." }, lines))).toMatchObject({
    content: [{ type: "text" }, PNG],
  });
  expect(await resultOf("x", { type: "image", content: { data: lines.data, mediaType } })).toMatchObject({
    display_as: [{ content: { data: PNG.data } }, { type: "text" }],
  });
});

it("[RAPS-46] an invalid result is replaced by an error that says why", async () => {
  const told = async (output: unknown): Promise<unknown> => (await resultOf(output))["text"];
  expect(await told(content({ ...PNG, data: "" }))).toMatch(/^Error: .*content\[1\]\.data must not be empty/);
  expect(await told(content({ ...PNG, data: "a-b_" }))).toMatch(/^Error: .* must be base64/);
  expect(await told(content({ ...PNG, data: new Uint8Array(3) } as never))).toMatch(/must be a string/);
  expect(await told(content({ ...PNG, size: 1n } as never))).toMatch(/^Error: .* JSON cannot encode/);
  const many = Array.from({ length: LIMITS.items + 1 }, () => ({ type: "text", text: "x" }) as const);
  expect(await told(content(...many))).toMatch(/^Error: .*content must not have more than 256 entries/);
  expect(await told("x".repeat(LIMITS.callbackBytes))).toMatch(/^Error: .* bytes, and the limit is/);
  expect(await told("ü".repeat(LIMITS.callbackBytes / 2))).toMatch(/^Error: .* bytes/);
});

it("[RAPS-46] a display over the limits is dropped, and the result is sent", async () => {
  const image = { type: "image", content: { data: "", mediaType: PNG.mediaType } } as const;
  expect(await resultOf("Drawn.", image)).toMatchObject({ text: "Drawn." });
  expect(await resultOf("Drawn.", image)).not.toHaveProperty("display_as");
});

it("[RAPS-46] a subscription whose announcing result is invalid does not start", async () => {
  const world = new RapWorld();
  const watch = tool({
    name: "watch",
    description: "Watches.",
    async run(_, ctx) {
      const { id } = await ctx.subscribe();
      return content({ ...PNG, data: "" }, { type: "text", text: id });
    },
  });
  const server = world.server({ tools: [watch] });
  expect(await world.result(server, "watch")).toMatchObject({ subscription: false });
  await world.quiet();
  expect(server.subscriptions()).toEqual([]);
});

it("[RAPS-42] a display ends with a line of text", async () => {
  const diff = { type: "diff", content: { path: "a.ts", patch: "---" } } as const;
  const image = { type: "image", content: { data: PNG.data, mediaType: PNG.mediaType } } as const;
  expect(await resultOf("Replaced it.\nAll of it.", diff)).toMatchObject({
    display_as: [diff, { type: "text", content: "Replaced it." }],
  });
  expect(await resultOf("x", image, { type: "text", content: "A logo" })).toMatchObject({
    display_as: [image, { type: "text", content: "A logo" }],
  });
  expect(await resultOf(content({ type: "text", text: "A logo." }, PNG), image)).toMatchObject({
    display_as: [image, { type: "text", content: "A logo." }],
  });
});

it("[RAPS-42] the line of text is short, and left out if it equals the result", async () => {
  const long = `${"x".repeat(198)}🧵🧵 and so on`;
  const { display_as } = await resultOf("long", { type: "text", content: `${long}\nmore` });
  const [segment] = display_as as { content: string }[];
  expect(segment!.content.length).toBeLessThanOrEqual(200);
  expect(segment!.content).toMatch(/^x{198}…$/u);
  expect(await resultOf("Deployed.", { type: "text", content: "Deployed." })).not.toHaveProperty(
    "display_as",
  );
});
