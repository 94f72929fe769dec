import { describe, expect, it } from "vitest";
import { SearchIndex } from "./search-index.ts";

const index = (...tools: readonly (readonly [name: string, about: string])[]) =>
  new SearchIndex(tools.map(([name, about]) => ({ value: name, name, about })));

const FILES = index(
  ["fs readFile", "Reads a text file from disk"],
  ["fs write_file", "Writes text to a file"],
  ["git commit", "Records changes of the repository, of any file"],
  ["mail send-messages", "Sends mail to people"],
);

describe("a search for tools", () => {
  it("[MCPCALL-16] finds the parts of names first, however they are written", () => {
    expect(FILES.find("read file", 1)).toEqual(["fs readFile"]);
    expect(FILES.find("WRITE-FILE", 1)).toEqual(["fs write_file"]);
    expect(FILES.find("send message", 9)).toEqual(["mail send-messages"]);
  });

  it("[MCPCALL-16] finds by what a tool is for, and prefers rare words", () => {
    expect(FILES.find("which one records file changes", 1)).toEqual(["git commit"]);
    expect(FILES.find("people", 9)).toEqual(["mail send-messages"]);
    expect(FILES.find("file", 9)).toHaveLength(3);
  });

  it("[MCPCALL-16] finds nothing for nothing, and no more than was asked for", () => {
    expect(FILES.find("", 9)).toEqual([]);
    expect(FILES.find("nowhere seen", 9)).toEqual([]);
    expect(FILES.find("file", 2)).toHaveLength(2);
    expect(index().find("file", 2)).toEqual([]);
  });

  it("[MCPCALL-16] gives equal ones in the order of their names", () => {
    const same = index(["c x", ""], ["a x", ""], ["b x", ""]);
    expect(same.find("x", 9)).toEqual(["a x", "b x", "c x"]);
  });
});
