import { expect, it } from "vitest";
import { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { SecretFiles } from "./request-secret-files.ts";

it("stores the secret of each request in a file of its own, and lists them", async () => {
  const files = new MemoryFiles();
  const secrets = new SecretFiles("/home", files);
  expect(await secrets.list()).toEqual([]);
  await secrets.save("t1", 7, "seven");
  await secrets.save("t1", 8, "eight");
  await secrets.save("t2", 7, "other");
  expect(files.under()).toEqual(["secrets/t1.7", "secrets/t1.8", "secrets/t2.7"]);
  expect([await secrets.read("t1", 7), await secrets.read("t2", 7)]).toEqual(["seven", "other"]);
  expect(await secrets.read("t2", 8)).toBeUndefined();
  await secrets.remove("t1", 7);
  files.put("secrets/notes", "no secret");
  expect(await secrets.list()).toEqual([
    { threadId: "t1", requestId: 8 },
    { threadId: "t2", requestId: 7 },
  ]);
});
