import { expect, it } from "vitest";
import { folderName, pathWithin } from "./file-paths.ts";

it.each([
  ["/work/shop", "/work/shop/src/app.ts", "src/app.ts"],
  ["/work/shop/", "/work/shop/app.ts", "app.ts"],
  ["C:\\shop", "C:\\shop\\app.ts", "app.ts"],
  ["/work/shop", "/work/shopping/app.ts", "/work/shopping/app.ts"],
  ["/work/shop", "/work/shop", "/work/shop"],
  ["/work/shop", "/work/shop/", "/work/shop/"],
  ["/", "/etc/hosts", "/etc/hosts"],
  ["", "/etc/hosts", "/etc/hosts"],
])("shows a path as seen from a folder: %s, %s", (folder, path, expected) => {
  expect(pathWithin(folder, path)).toBe(expected);
});

it("names a folder by the last part of its path", () => {
  expect(["/work/shop/", "C:\\shop", "/"].map(folderName)).toEqual(["shop", "shop", "/"]);
});
