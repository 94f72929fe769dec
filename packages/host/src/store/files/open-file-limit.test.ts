import { expect, it } from "vitest";
import { type Holder, OpenFileLimit } from "./open-file-limit.ts";

/** Files that note when they are closed; one that is `busy` stays open. */
function stage() {
  const closed: string[] = [];
  const busy = new Set<string>();
  const file = (name: string): Holder => ({
    letGo() {
      if (busy.has(name)) return false;
      closed.push(name);
      return true;
    },
  });
  return { closed, busy, file };
}

it("closes the file that was not used for longest when there are too many", () => {
  const { closed, file } = stage();
  const limit = new OpenFileLimit(2);
  const [a, b, c, d] = [file("a"), file("b"), file("c"), file("d")];
  limit.used(a);
  limit.used(b);
  limit.used(a);
  expect(closed).toEqual([]);
  limit.used(c);
  expect(closed).toEqual(["b"]);
  limit.used(d);
  expect(closed).toEqual(["b", "a"]);
});

it("passes over files that are in use, and the one that was just used", () => {
  const { closed, busy, file } = stage();
  const limit = new OpenFileLimit(1);
  busy.add("a");
  limit.used(file("a"));
  limit.used(file("b"));
  expect(closed).toEqual([]);
  busy.clear();
  limit.used(file("c"));
  expect(closed).toEqual(["a"]);
});

it("does not count files that their users have closed", () => {
  const { closed, file } = stage();
  const limit = new OpenFileLimit(1);
  const a = file("a");
  limit.used(a);
  limit.closed(a);
  limit.used(file("b"));
  expect(closed).toEqual([]);
});

it("closes all files at the end", () => {
  const { closed, file } = stage();
  const limit = new OpenFileLimit(2);
  limit.used(file("a"));
  limit.used(file("b"));
  limit.close();
  expect(closed).toEqual(["a", "b"]);
});
