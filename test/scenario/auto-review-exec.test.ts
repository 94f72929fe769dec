// `bobbin exec` with a model that judges approvals, and a local model that plays the agent and the reviewer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { escalated, say } from "../support/model-replies.ts";
import { Cast, verdict } from "../support/review-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";

async function exec(agent: readonly Reply[], reviewer: readonly Reply[], ...flags: readonly string[]) {
  const cast = new Cast(agent, reviewer);
  const model = await MockModel.start(cast.reply);
  const { home, cwd } = await modelHome("responses", model.url);
  const env = { BOBBIN_HOME: home, SHELL: "/bin/bash" };
  return { cast, ran: await runBobbin(["exec", ...flags, "-C", cwd, "Go on"], { env }) };
}

it("[AUTOREV-13] bobbin exec --approve-for-me runs what a model allows, and says so", async () => {
  const file = join(await freshFolder(), "a");
  const { ran } = await exec(
    [escalated(`touch ${file}`), say("Done")],
    [verdict("allow")],
    "--approve-for-me",
  );
  expect(ran).toMatchObject({ code: 0, stdout: "Done\n" });
  expect(ran.stderr).toContain("Auto review approved this (risk: high, authorization: low): A reason.");
  expect(existsSync(file)).toBe(true);
});

it("[AUTOREV-13] bobbin exec --json has an event for each review", async () => {
  const file = join(await freshFolder(), "a");
  const { ran } = await exec(
    [escalated(`touch ${file}`), say("Done")],
    [verdict("deny")],
    "--json",
    "--access",
    "auto-review",
  );
  expect(ran.code).toBe(0);
  expect(existsSync(file)).toBe(false);
  const events = ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(events.filter(({ type }) => type === "approval.reviewed")).toEqual([
    {
      type: "approval.reviewed",
      status: "denied",
      risk_level: "high",
      user_authorization: "low",
      rationale: "A reason.",
      action: expect.objectContaining({ type: "command", command: `/bin/bash -c 'touch ${file}'` }),
    },
  ]);
});
