import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { readConfig } from "../config/config.ts";
import type { ModelEvent, ModelProvider } from "../model/model.ts";
import { pinoLog } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { JsonReport } from "./exec-json-report.ts";
import { TextReport } from "./exec-text-report.ts";
import { execTurn, type TurnOutcome } from "./exec-turn.ts";
import { Output } from "./terminal-output.ts";

/** One turn with a model that does what the test says. */
async function turn(...events: ModelEvent[]) {
  const provider: ModelProvider = {
    id: "offline",
    models: async () => [],
    async *stream() {
      for (const event of events) yield [event];
    },
  };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const told: unknown[] = [];
  const outcomes: TurnOutcome[] = [];
  for (const report of [
    new TextReport(new Output(stdout), new Output(stderr)),
    new JsonReport((event) => told.push(event)),
  ]) {
    outcomes.push(
      await execTurn(
        {
          home: "/home/of/bobbin",
          cwd: "/",
          config: readConfig({}),
          platform: nodePlatform(),
          log: pinoLog({ level: "silent", format: "text", write() {} }),
          providers: [provider],
        },
        {
          work: { input: [{ type: "text", text: "hi" }] },
          ephemeral: true,
          outputSchema: undefined,
          access: {},
          policy: { approve: false, answer: "default", person: undefined },
          signal: new AbortController().signal,
        },
        report,
      ),
    );
  }
  expect(outcomes[0]).toEqual(outcomes[1]);
  return { outcome: outcomes[0], told, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read()) };
}

const error = { message: "no such key", additionalDetails: null, codexErrorInfo: null, misalignment: null };

it("reports a turn that failed, and closes the line that had begun", async () => {
  const { outcome, told, stdout, stderr } = await turn(
    { type: "messageStarted", itemId: "m" },
    { type: "messageDelta", itemId: "m", text: "I was ab" },
    { type: "failed", error },
  );
  expect(outcome?.status).toBe("failed");
  expect(stdout).toBe("I was ab\n");
  expect(stderr).toContain("bobbin: no such key\n");
  expect(told.at(-1)).toEqual({ type: "turn.failed", error: { message: "no such key" } });
});

it("shows what no delta brought, and sets messages apart", async () => {
  const usage = {
    totalTokens: 9,
    inputTokens: 5,
    cachedInputTokens: 2,
    cacheWriteInputTokens: 0,
    outputTokens: 4,
    reasoningOutputTokens: 0,
  };
  const { outcome, stdout, stderr } = await turn(
    { type: "messageStarted", itemId: "m" },
    { type: "messageDelta", itemId: "m", text: "one " },
    { type: "messageDone", itemId: "m", text: "one two" },
    { type: "messageStarted", itemId: "n" },
    { type: "messageDone", itemId: "n", text: "three\n" },
    { type: "done", usage, contextWindow: null },
  );
  expect(outcome).toEqual({ status: "completed", answer: "three\n" });
  expect(stdout).toBe("one two\n\nthree\n");
  expect(stderr).toContain("tokens: 5 in (2 cached), 4 out\n");
});
