// What models are sent of the instructions in a workspace.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";

it("[LIFE-18] sends no AGENTS.md that the profile hides from commands, also behind a link", async () => {
  const model = await MockModel.start();
  const profile = [
    'default_permissions = "careful"',
    "[permissions.careful.filesystem]",
    '":root" = "read"',
    '":workspace_roots" = { "." = "write", "**/*.key" = "deny" }',
  ];
  const { home, cwd } = await modelHome("responses", model.url, { top: profile });
  for (const [folder, target] of [
    ["open", "guide.md"],
    ["closed", "api.key"],
  ] as const) {
    await mkdir(join(cwd, folder));
    await writeFile(join(cwd, folder, target), `the text of ${target}`);
    await symlink(target, join(cwd, folder, "AGENTS.md"));
  }
  const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  const sent = async (folder: string, more: object = {}): Promise<string> => {
    model.reply(say("ok"));
    const threadId = await client.startThread({ cwd: join(cwd, folder), ...more });
    await client.turn(threadId, "Hello");
    return JSON.stringify(model.asked.at(-1)!.body);
  };
  expect(await sent("open")).toContain("the text of guide.md");
  expect(await sent("closed")).not.toContain("the text of api.key");
  // Without the profile it is like any other.
  expect(await sent("closed", { permissions: ":read-only" })).toContain("the text of api.key");
});
