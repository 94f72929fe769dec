import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodePlatform } from "../platform/node.ts";
import { PlaceholderFiles } from "./placeholder-files.ts";

it("holds a placeholder at the next call after it could not be created", async () => {
  const folder = await freshFolder("placeholders");
  const platform = nodePlatform();
  let isFull = true;
  const placeholders = new PlaceholderFiles(
    {
      ...platform,
      workspace: {
        ...platform.workspace,
        makeFolder: (path, options) =>
          isFull ? Promise.reject(new Error("full")) : platform.workspace.makeFolder(path, options),
      },
    },
    join(folder, "home"),
  );
  const wanted = ["one", "two"].map((name) => ({ path: join(folder, name), text: null }));
  await expect(placeholders.hold(wanted)).rejects.toThrow("full");
  isFull = false;
  await placeholders.hold(wanted);
  expect((await readdir(folder)).sort()).toEqual(["home", "one", "two"]);
  await placeholders.release(wanted);
  expect(await readdir(folder)).toEqual(["home"]);
  await placeholders.close();
});

it("leaves what the user has put in place of a placeholder", async () => {
  const folder = await freshFolder("placeholders");
  const placeholders = new PlaceholderFiles(nodePlatform(), join(folder, "home"));
  const wanted = [{ path: join(folder, "one"), text: null }];
  await placeholders.hold(wanted);
  await mkdir(join(folder, "one", "theirs"));
  await placeholders.release(wanted);
  expect(await readdir(join(folder, "one"))).toEqual(["theirs"]);
  await placeholders.close();
});
