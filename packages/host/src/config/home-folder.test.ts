import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { configFolder, homeDirectory } from "./home-folder.ts";

it.each([
  [{}, join(homedir(), ".bobbin"), join(homedir(), ".bobbin")],
  [{ BOBBIN_HOME: "/a" }, "/a", "/a"],
  [{ BOBBIN_HOME: "/a", CODEX_HOME: "/b" }, "/a", "/a"],
  [{ BOBBIN_HOME: "", CODEX_HOME: "/b/" }, "/b/bobbin", "/b"],
  [{ CODEX_HOME: "" }, join(homedir(), ".bobbin"), join(homedir(), ".bobbin")],
])("[HOME-1] with %j the home is %s, and config.toml is in %s", (env, home, folder) => {
  expect([homeDirectory(env), configFolder(home, env)]).toEqual([home, folder]);
});

it("[HOME-1] a home of somebody else has its own config.toml", () => {
  expect(configFolder("/other", { CODEX_HOME: "/b" })).toBe("/other");
});

it.each(["", "here"])("[HOME-1] is not in the working folder if HOME is %j", (home) => {
  vi.stubEnv("HOME", home);
  try {
    expect(homeDirectory({})).toBe(join(userInfo().homedir, ".bobbin"));
  } finally {
    vi.unstubAllEnvs();
  }
});
