// Runs docs/tool-servers.md and the examples as they stand; only ports and addresses are replaced.
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { blocksIn, blockWith, ROOT, take } from "../support/markdown.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { type RunningExample, runExample, savedExample } from "../support/saved-example.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGE = "docs/tool-servers.md";

/** What an example says when it is up. */
async function url(example: RunningExample): Promise<string> {
  const found = () => /listening on (http:\/\/[\d.:]+)/.exec(example.output)?.[1];
  await eventually(() => found() !== undefined, "the example listens");
  return found()!;
}

it("[DOCS-2] serves the dice to a host that is configured as the page says", async () => {
  const snippet = await blockWith(PAGE, "ts", "roll_dice");
  const root = await savedExample("dice", snippet.replace("port: 8793", "port: 0"));
  const [, variable, token] = /^(\w+)=(\S+) npm run example -- dice$/m.exec(
    await blockWith(PAGE, "sh", "dice"),
  )!;
  const dice = runExample(root, "dice", { [variable!]: token! });
  const home = await freshFolder();
  const config = (await blockWith(PAGE, "toml", "[rap_servers.dice]")).replace(
    "http://127.0.0.1:8793",
    await url(dice),
  );
  await writeFile(join(home, "config.toml"), config);
  const tools = (env: Record<string, string>) => runBobbin(["tools"], { env: { BOBBIN_HOME: home, ...env } });
  expect(await tools({ [variable!]: token! })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/✓ dice .* ready\n.*\n +roll_dice +Rolls a die\./),
  });
  expect(await tools({ [variable!]: "another-token" })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/✗ dice .* refused\n/),
  });
});

it("[DOCS-2] ends with one sentence about a token that is too short, and where it is", async () => {
  const root = await savedExample("dice", await blockWith(PAGE, "ts", "roll_dice"));
  const dice = runExample(root, "dice", { DICE_TOKEN: "abc" });
  expect(await dice.ended).toBe(1);
  expect(dice.output).toMatch(
    /^dice: a bearer token must have 8 or more characters; .*\n {4}at examples\/dice\/main\.ts:\d+:\d+\n$/,
  );
});

it("[DOCS-2] runs each example with one command, and prints what belongs into config.toml", async () => {
  const names = [...(await readFile(join(ROOT, PAGE), "utf8")).matchAll(/^\| `npm run example -- (\w+)`/gm)];
  expect(names.map(([, name]) => name)).toEqual(["workspace", "reminder", "approval"]);
  const data = await freshFolder("data");
  for (const [, name] of names) {
    const example = runExample(ROOT, name!, {
      PORT: "0",
      RAP_DATA: join(data, name!),
      RAP_TOKEN: "a-long-token",
    });
    const at = await url(example);
    await eventually(() => example.output.includes("bearer_token_env_var"), "the example is configured");
    const home = await freshFolder();
    const config = example.output.split("\n").filter((line) => line.startsWith("  "));
    await writeFile(join(home, "config.toml"), config.join("\n"));
    const { code, stdout } = await runBobbin(["tools"], {
      env: { BOBBIN_HOME: home, RAP_TOKEN: "a-long-token" },
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`✓ ${name}  ${at}  ready`)]);
    example.child.kill("SIGTERM");
    expect(await example.ended).toBe(0);
  }
});

it("[DOCS-2] says that a port is in use", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const env = { PORT: String(port), RAP_DATA: await freshFolder("data"), RAP_TOKEN: "" };
  const example = runExample(ROOT, "approval", env);
  expect(await example.ended).toBe(1);
  expect(example.output).toMatch(new RegExp(`^approval: port ${port} is in use; set PORT to another one\n`));
  other.close();
});

it("[DOCS-2] shows excerpts that are in the sources", async () => {
  const page = await readFile(join(ROOT, PAGE), "utf8");
  const sources = [...page.matchAll(/\[source\]\(\.\.\/([^)]+)\)[^`]*?\n```ts\n/g)].map(([head, path]) => ({
    path: path!,
    line: page.slice(0, page.indexOf(head) + head.length).split("\n").length - 1,
  }));
  expect(sources.map(({ path }) => path)).toEqual([
    "examples/reminder/server.ts",
    "examples/approval/server.ts",
  ]);
  const flat = (text: string) => text.replace(/^ +/gm, "");
  for (const { path, line } of sources) {
    const excerpt = (await blocksIn(PAGE)).find((block) => block.line === line)!;
    expect(flat(await readFile(join(ROOT, path), "utf8"))).toContain(flat(excerpt.text));
    take(PAGE, excerpt);
  }
});

it("[DOCS-11] runs all that the list gives to this file", async () => {
  expect(await notRunBy("test/docs/tool-servers.test.ts")).toEqual([]);
});
