import { afterEach, expect, it, vi } from "vitest";
import { upwards } from "./parent-folders.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it("goes from a folder to the root", () => {
  expect(upwards("/a/b")).toEqual(["/a/b", "/a", "/"]);
  expect(upwards("/")).toEqual(["/"]);
});

it("is limited in depth", () => {
  expect(upwards(`/${"x/".repeat(3000)}`)).toHaveLength(128);
});

it("stops below the folders of GIT_CEILING_DIRECTORIES, as git does", () => {
  vi.stubEnv("GIT_CEILING_DIRECTORIES", "/other:/a/b");
  expect(upwards("/a/b/c/d")).toEqual(["/a/b/c/d", "/a/b/c"]);
  // A ceiling does not apply to the folder where the search begins.
  expect(upwards("/a/b")).toEqual(["/a/b", "/a", "/"]);
  expect(upwards("/a/bc")).toEqual(["/a/bc", "/a", "/"]);
});
