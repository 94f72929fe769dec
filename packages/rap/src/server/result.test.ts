import { expect, it } from "vitest";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { parseCallback } from "../wire/index.ts";
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

it("[RAPS-40] text is told as it is, and other things as JSON in the text", async () => {
  expect(await resultOf("plain\ntext")).toMatchObject({ text: "plain\ntext" });
  expect(await resultOf({ count: 1, of: ["a"] })).toMatchObject({ text: '{"count":1,"of":["a"]}' });
  expect(await resultOf([1, 2])).toMatchObject({ text: "[1,2]" });
  expect(await resultOf(0)).toMatchObject({ text: "0" });
  expect(await resultOf(undefined)).toMatchObject({ text: "Done." });
  expect((await resultOf(10n))["text"]).toMatch(/^Error: The tool failed/);
});

it("[RAPS-41] images come behind a text that stands for them", async () => {
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

it("[RAPS-42] what people see ends with a line of text", async () => {
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

it("[RAPS-42] a line of text is short, and left out where the result says the same", async () => {
  const long = `${"x".repeat(198)}🧵🧵 and so on`;
  const { display_as } = await resultOf("long", { type: "text", content: `${long}\nmore` });
  const [segment] = display_as as { content: string }[];
  expect(segment!.content.length).toBeLessThanOrEqual(200);
  expect(segment!.content).toMatch(/^x{198}…$/u);
  expect(await resultOf("Deployed.", { type: "text", content: "Deployed." })).not.toHaveProperty(
    "display_as",
  );
});
