import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { nodeFiles } from "../../platform/node-files.ts";
import { sessionPath } from "./journal-paths.ts";
import { OutputFolder } from "./output-folder.ts";

const ID = "01a1eb07-197b-70fb-b4de-3fad105dd0c6";
const OTHER_ID = "01a1eb07-197b-70fb-b4de-3fad105dd0c7";

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

it("[EXEC-4] replaces the oldest outputs of a host by a note when those of all threads become too large", async () => {
  const home = await freshFolder();
  const outputs = new OutputFolder(home, nodeFiles(), 1_300, 1_300);
  const open = await outputs.create(ID, "open");
  await open.append(Buffer.alloc(500));
  const paths: string[] = [];
  for (const [id, name] of [
    [OTHER_ID, "a"],
    [ID, "b"],
    [OTHER_ID, "gone"],
    [ID, "c"],
    [OTHER_ID, "d"],
  ] as const) {
    const output = await outputs.create(id, name);
    await output.append(Buffer.from(name.padEnd(500, ".")));
    await output.close();
    if (name === "gone") await rm(output.path);
    else paths.push(output.path);
  }
  await outputs.create(ID, "last");
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8")));
  expect(texts.map((text) => text.replace(/\.+$/, ""))).toEqual([
    expect.stringMatching(/^This output was removed/),
    expect.stringMatching(/^This output was removed/),
    expect.stringMatching(/^This output was removed/),
    "d",
  ]);
  expect((await readFile(open.path)).length).toBe(500);
  await open.close();
  await expect(readFile(join(dirname(paths[0]!), "gone"))).rejects.toMatchObject({ code: "ENOENT" });
});

it("[EXEC-4] replaces the oldest outputs of a thread by a note when they become too large together", async () => {
  const home = await freshFolder();
  const outputs = (): OutputFolder => new OutputFolder(home, nodeFiles(), 1_300);
  const write = async (id: string, name: string): Promise<string> => {
    // A new folder object each time: the order is kept over restarts.
    const output = await outputs().create(id, name);
    await output.append(Buffer.from(name.padEnd(500, ".")));
    await output.close();
    return output.path;
  };
  const other = await write(OTHER_ID, "other");
  const paths: string[] = [];
  for (const name of ["z", "y", "x", "w", "v"]) paths.push(await write(ID, name));
  const texts = await Promise.all([...paths, other].map((path) => readFile(path, "utf8")));
  expect(texts.map((text) => text.replace(/\.+$/, ""))).toEqual([
    expect.stringMatching(/^This output was removed/),
    expect.stringMatching(/^This output was removed/),
    "x",
    "w",
    "v",
    "other",
  ]);
});
