import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { nodeFiles } from "../../platform/node-files.ts";
import { sessionPath } from "./journal-paths.ts";
import { OutputFolder } from "./output-folder.ts";

const ID = "01a1eb07-197b-70fb-b4de-3fad105dd0c6";

it("keeps each output in a file of its own, beside the journal of a thread that is not archived", async () => {
  const home = await mkdtemp(join(tmpdir(), "bobbin-outputs-"));
  try {
    const outputs = new OutputFolder(home, nodeFiles());
    expect(dirname(dirname(outputs.folder(ID)))).toBe(dirname(sessionPath(home, ID)));
    const output = await outputs.create(ID, "call.txt");
    expect(output.path).toBe(join(outputs.folder(ID), "call.txt"));
    await output.append(Buffer.from("one\n"));
    await output.append(Buffer.from("two\n"));
    await output.close();
    expect(await readFile(output.path, "utf8")).toBe("one\ntwo\n");
    await expect(outputs.create(ID, "call.txt")).rejects.toMatchObject({ code: "EEXIST" });
  } finally {
    await rm(home, { recursive: true });
  }
});
