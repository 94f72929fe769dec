import { expect, it } from "vitest";
import { upwards } from "./parent-folders.ts";

it("goes from a folder to the root", () => {
  expect(upwards("/a/b")).toEqual(["/a/b", "/a", "/"]);
  expect(upwards("/")).toEqual(["/"]);
});

it("is limited in depth", () => {
  expect(upwards(`/${"x/".repeat(3000)}`)).toHaveLength(128);
});
