import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually, eventuallyPasses } from "../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../test/support/folder.ts";
import { NodeMessageWorker } from "./node-message-worker.ts";

let file: string;
beforeAll(async () => {
  file = join(await freshFolder("message-worker"), "talk.cjs");
  const code = `
    const { parentPort, threadId } = require("node:worker_threads");
    parentPort.on("message", (message) => {
      if (message === "die") process.exit(1);
      if (message === "throw") throw new Error("broken");
      if (message === "fill") { const all = []; for (;;) all.push(new Array(100000).fill({})); }
      parentPort.postMessage({ threadId, first: message });
      parentPort.postMessage({ threadId, second: message });
    });`;
  writeFileSync(file, code);
});

function messageWorker(of: string) {
  const received: { readonly threadId: number }[] = [];
  const gone: string[] = [];
  const events = {
    received: (message: unknown) => void received.push(message as { threadId: number }),
    gone: (why: Error) => void gone.push(why.message),
  };
  const one = new NodeMessageWorker(of, events, 32);
  return { one, received, gone };
}

describe("a message worker", () => {
  it("delivers its messages in order, and none after it was closed", async () => {
    const { one, received, gone } = messageWorker(file);
    one.post(1);
    one.post(2);
    await eventually(() => received.length === 4, "both messages are answered");
    expect(received).toMatchObject([{ first: 1 }, { second: 1 }, { first: 2 }, { second: 2 }]);
    one.post(3);
    await one.close();
    await one.close();
    const before = received.length;
    one.post(4);
    await eventually(() => received.length === before + 2, "the next message is answered");
    expect(received.at(-1)!.threadId).not.toBe(received[0]!.threadId);
    await one.close();
    expect(gone).toEqual([]);
  });

  it.each(["die", "throw", "fill"])(
    "[SEARCH-8] that dies (%s) is reported once, and is started again",
    async (how) => {
      const { one, received, gone } = messageWorker(file);
      one.post(how);
      await eventually(() => gone.length === 1, "it is reported as gone");
      one.post("again");
      await eventually(() => received.length === 2, "the next message is answered");
      await one.close();
      expect(gone).toHaveLength(1);
    },
  );

  it("that cannot be started is reported as gone", async () => {
    const { one, gone } = messageWorker(`${file}.none`);
    one.post("hello");
    await eventuallyPasses(() => expect(gone).toEqual([`the worker file ${file}.none does not exist`]));
    await one.close();
  });
});
