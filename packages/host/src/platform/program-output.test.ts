import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { ProgramOutput } from "./program-output.ts";

it("[PROC-9] gives what was written before it was stopped, also when nobody had read it yet", async () => {
  const stdout = new PassThrough();
  const pieces = new ProgramOutput({ stdout });
  stdout.write("written before");
  let isStopped = false;
  pieces.stop(() => {
    isStopped = true;
  });
  const text: string[] = [];
  for await (const { bytes } of pieces) text.push(Buffer.from(bytes).toString());
  expect(text).toEqual(["written before"]);
  expect(isStopped).toBe(true);
  expect(stdout.destroyed).toBe(true);
});
