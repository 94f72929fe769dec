// The user allows commands for good, and the host dies at any step between the answer and the command's end.
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals, recordsOf } from "../model/journals.ts";
import { LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { work } from "./fake-programs.ts";
import { runSeed } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME } from "./sim-host.ts";
import type { World } from "./world.ts";

// There is no sandbox here, so every command that no rule allows asks.
const CONFIG = readConfig({ sandbox_mode: "workspace-write", approval_policy: "on-request" });
const DECISION = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["ls", "1", "10", "0"] } };
const RULES = `${HOME}/rules/default.rules`;
const STRIDE = LONG ? 1 : 3;

/** Answers the question each time that it is asked. */
function answering(client: SimClient, answered: () => void): void {
  client.rules.onlyReplies = true;
  let seen = 0;
  client.heard = () => {
    for (const { id, method } of client.frames.slice(seen)) {
      if (method !== "item/commandExecution/requestApproval") continue;
      client.answer(id!, { result: { decision: DECISION } });
      answered();
    }
    seen = client.frames.length;
  };
}

const isRecorded = ({ disk }: World): boolean =>
  journals(disk).some((path) => recordsOf(disk, path).some(({ type }) => type === "requestResolved"));

/** How often the rule is in the file. */
function rulesIn({ disk }: World): number {
  const lines = (disk.text(RULES) ?? "").split("\n").filter((line) => line !== "");
  return lines.filter((line) => line.includes('["ls", "1", "10", "0"]')).length;
}

/** The turn, on a host that dies so many steps after the answer; true if it was over before. */
async function dieAfterAnswer(world: World, kind: "kill" | "power", steps: number): Promise<boolean> {
  world.processes.programs.set("ls", work);
  world.model.scripts = ({ context }) =>
    context.at(-1)?.type === "toolOutput"
      ? { steps: [{ do: "say", pieces: ["Done"] }] }
      : { steps: [{ do: "call", name: "exec_command", args: { cmd: "ls 1 10 0", login: false } }] };
  const host = await world.start({ config: CONFIG });
  const client = host.connect();
  let dead: Promise<void> | undefined;
  const asked = new Promise<void>((resolve) => {
    answering(client, () => {
      dead ??= host.crashIn(steps, () => kind);
      resolve();
    });
  });
  let over = false;
  const live = async (): Promise<void> => {
    await client.initialize({ experimentalApi: true });
    const threadId = await client.startThread();
    await client.turnEnd(await client.startTurn(threadId));
    over = host.alive;
  };
  const life = live().catch(() => {});
  await asked;
  await Promise.all([dead, life]);
  const recorded = isRecorded(world);
  const next = await world.start({ config: CONFIG });
  await world.scheduler.quiet();
  if (recorded)
    world.check(() => assert.equal(rulesIn(world), 1, "the answer is recorded, and its rule is not there"));
  const other = next.connect();
  answering(other, () => {});
  await other.initialize({ experimentalApi: true });
  const [path] = journals(world.disk);
  // A power cut may take the turn, whose start is not synced.
  const hasTurn =
    path !== undefined && recordsOf(world.disk, path).some(({ type }) => type === "turnStarted");
  if (hasTurn) {
    await other.call("thread/resume", { threadId: path.slice(-".jsonl".length - 36, -".jsonl".length) });
    await world.sleep(60_000);
    await world.scheduler.quiet();
    world.check(() => assert.equal(rulesIn(world), 1, "the rule is there once"));
  }
  await next.close();
  return over;
}

describe("an answer that allows commands for good", () => {
  it.each(["kill", "power"] as const)(
    "[APPROVE-4] becomes a rule once, whenever the host dies after it (%s)",
    { timeout: STUCK_MS },
    async (kind) => {
      let over = false;
      for (let steps = 0; !over; steps += STRIDE) {
        await runSeed(1 + (steps % 3), async (world) => {
          over = await dieAfterAnswer(world, kind, steps).catch((cause: unknown) => {
            throw new Error(`${kind} after ${steps} steps: ${(cause as Error).message}`, { cause });
          });
        });
      }
    },
  );
});
