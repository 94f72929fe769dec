import { expect, it } from "vitest";
import type { TomlReader } from "./config-file.ts";
import { readRequirementFiles } from "./requirement-files.ts";

it("reads requirements of the machine, whatever other folder is named in its place", async () => {
  const asked: string[] = [];
  const toml = {
    read: async (path: string) => {
      asked.push(path);
      return undefined;
    },
  } as unknown as TomlReader;
  const sources = { home: "/home/of/bobbin", etc: "/elsewhere" };
  await readRequirementFiles(toml, sources, async () => true);
  expect(asked).toEqual([
    "/etc/bobbin/requirements.toml",
    "/etc/codex/requirements.toml",
    "/elsewhere/bobbin/requirements.toml",
    "/elsewhere/codex/requirements.toml",
    "/home/of/bobbin/requirements.toml",
  ]);
});
