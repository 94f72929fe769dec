// The examples of docs/hooks.md are hooks, and the first one does what the page says.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../packages/host/src/config/load-config.ts";
import { readHooks } from "../../packages/host/src/hooks/hook-config.ts";
import { stage } from "../support/hook-stage.ts";
import { blocksIn, blockWith } from "../support/markdown.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGE = "docs/hooks.md";

it("[HOOK-18] has a first hook that keeps commands from being run", async () => {
  const { client, threadId, model, home } = await stage({}, [
    run({ cmd: "echo git push --force" }),
    run({ cmd: "echo git push" }, "call_2"),
    say("Well."),
  ]);
  writeFileSync(join(home, "hooks.json"), await blockWith(PAGE, "json", "PreToolUse"));
  const { data } = await client.call("hooks/list", {});
  expect(data[0]).toMatchObject({ warnings: [], errors: [], hooks: [{ trustStatus: "trusted" }] });
  await client.turn(threadId, "Push.");
  expect(outputOf(model, 1)).toContain("Nobody force-pushes here.");
  expect(outputOf(model, 2)).toContain("git push");
});

it("[HOOK-18] has the same hook in config.toml", async () => {
  const blocks = (await blocksIn(PAGE)).filter(({ language }) => language === "toml");
  const [json] = (await blocksIn(PAGE)).filter(({ language }) => language === "json");
  const tables = await Promise.all(
    blocks.map(async ({ text }) => {
      const readText = async (path: string) => (path.endsWith("/config.toml") ? text : undefined);
      return (await loadConfig({ readText }, "/home/of/bobbin", [])).hooks;
    }),
  );
  const [ofToml] = readHooks(tables[0], PAGE).hooks;
  const [ofJson] = readHooks(JSON.parse(json!.text).hooks, PAGE).hooks;
  expect({ ...ofToml, statusMessage: null }).toEqual({ ...ofJson, statusMessage: null });
  expect(readHooks(tables[1], PAGE)).toEqual({ hooks: [], warnings: [] });
});

it("[DOCS-11] runs all that the list gives to this file", async () => {
  expect(await notRunBy("test/docs/hooks.test.ts")).toEqual([]);
});
