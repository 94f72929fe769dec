import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { memoryData, noAuth } from "@bobbin/rap";
import { expect, it } from "vitest";
import { freshFolder } from "../../test/support/folder.ts";
import { RapWorld } from "../../test/support/rap-world.ts";
import { createApprovalServer } from "./server.ts";

it("deploys what the user agrees to, and asks again unless the answer is remembered", async () => {
  const world = new RapWorld();
  const folder = await freshFolder("approval");
  const server = createApprovalServer({ auth: noAuth, data: memoryData(), folder, platform: world.platform });
  const deploy = async (id: string, environment: string, selected?: number): Promise<string> => {
    const before = world.posts.length;
    await world.call(server, "deploy", { service: "api", environment }, { id, user_id: "ada" });
    if (selected !== undefined) {
      const asked = await world.next("user_choice", before);
      expect(asked).toMatchObject({ prompt: `Deploy api to ${environment}?`, default: 2 });
      await world.post(server, new URL(asked.response_url!).pathname, { id, selected });
    }
    return (await world.next("tool_result", before)).text!;
  };
  expect(await deploy("a", "production", 2)).toContain("does not want");
  expect(await deploy("b", "production", 0)).toContain('"deployed"');
  expect(await deploy("c", "production", 1)).toContain('"deployed"');
  expect(await deploy("d", "production")).toContain('"deployed"');
  expect(await deploy("e", "staging", 2)).toContain("does not want");
  const lines = (await readFile(join(folder, "deployments.jsonl"), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).by)).toEqual(["ada", "ada", "ada"]);
  const wrong = await world.result(server, "deploy", { service: "../x", environment: "moon" }, { id: "f" });
  expect(wrong.text).toMatch(/^Error: The arguments do not fit/);
});
