import { expect, it } from "vitest";
import { upwards } from "./upwards.ts";

it("goes from a folder to the root", () => {
  expect(upwards("/a/b")).toEqual(["/a/b", "/a", "/"]);
  expect(upwards("/")).toEqual(["/"]);
});

it("does not go on for ever", () => {
  expect(upwards(`/${"x/".repeat(3000)}`)).toHaveLength(128);
});
