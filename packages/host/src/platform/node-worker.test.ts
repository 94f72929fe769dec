import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { NodeWorker } from "./node-worker.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bobbin-worker-"));
  const code = `
    const { parentPort, threadId } = require("node:worker_threads");
    parentPort.on("message", ({ id, message }) => {
      if (message === "die") process.exit(1);
      if (message === "throw") throw new Error("broken");
      if (message === "who") return parentPort.postMessage({ id, answer: threadId });
      if (message === "fail") return parentPort.postMessage({ id, failure: { message: "no", code: "EX" } });
      parentPort.postMessage({ id, answer: { echo: message } });
    });`;
  await writeFile(join(folder, "echo.cjs"), code);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a worker", () => {
  it("answers each request with its own result or error", async () => {
    const worker = new NodeWorker(join(folder, "echo.cjs"));
    const answers = await Promise.all([1, 2, 3].map((n) => worker.ask({ n })));
    expect(answers).toEqual([1, 2, 3].map((n) => ({ echo: { n } })));
    await expect(worker.ask("fail")).rejects.toMatchObject({ message: "no", code: "EX" });
    expect(await worker.ask("after")).toEqual({ echo: "after" });
    await worker.close();
  });

  it.each(["die", "throw"])(
    "that dies (%s) leaves nobody waiting, and is there again for the next",
    async (how) => {
      const worker = new NodeWorker(join(folder, "echo.cjs"));
      const before = await worker.ask("who");
      await expect(worker.ask(how)).rejects.toThrow();
      expect(await worker.ask("who")).not.toBe(before);
      await worker.close();
      await expect(new NodeWorker(join(folder, "none.cjs")).ask("x")).rejects.toThrow("does not exist");
    },
  );

  it("ends when it is idle, and starts again", async () => {
    const worker = new NodeWorker(join(folder, "echo.cjs"), 0);
    const first = await worker.ask("who");
    await eventually(async () => (await worker.ask("who")) !== first, "another thread answers");
    await worker.close();
    await worker.close();
    expect(await worker.ask("x")).toEqual({ echo: "x" });
    await worker.close();
  });
});
