import { describe, expect, it } from "vitest";
import type { Log } from "./log.ts";
import { RecentLog } from "./recent-log.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

describe("the log that is kept for reports", () => {
  it("has lines from info on, with their errors", () => {
    const log = new RecentLog(silent, () => 5);
    log.debug("left out");
    log.info("started", { port: 1 });
    log.error("failed", { cause: new Error("why") });
    const lines = log.text().trimEnd().split("\n");
    expect(JSON.parse(lines[0]!)).toEqual({ level: "info", time: 5, port: 1, msg: "started" });
    expect(JSON.parse(lines[1]!).cause.message).toBe("why");
    expect(lines).toHaveLength(2);
  });

  it("keeps the last lines, and takes what cannot be written as JSON", () => {
    const log = new RecentLog(silent, () => 0);
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    log.warn("odd", { circle });
    expect(log.text()).toContain('"msg":"odd"');
    for (let nth = 0; nth < 5000; nth++) log.info(`line ${nth}`, { more: "x".repeat(500) });
    expect(log.text().length).toBeLessThan(600 * 1024);
    expect(log.text()).toContain("line 4999");
    expect(log.text()).not.toContain('line 10"');
  });

  it("cuts the texts of long lines between words, and keeps them JSON", () => {
    const log = new RecentLog(silent, () => 0);
    log.info("long", { first: `${"word ".repeat(200)}${"secret".repeat(2000)}`, count: 3 });
    log.info("many", { all: Array.from({ length: 500 }, () => "word ".repeat(20)) });
    log.info("odd", { level: "mine", time: "then" });
    const [long, many, odd] = log
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(long).toMatchObject({ level: "info", msg: "long", count: 3 });
    expect(long.first).toBe(`${"word ".repeat(200).trimEnd()}…`);
    expect(many).toEqual({ level: "info", time: 0, msg: "many" });
    expect(odd).toEqual({ level: "info", time: 0, msg: "odd" });
  });

  it("is read by levels, from the end or after a number, and reports lines that it dropped", () => {
    const log = new RecentLog(silent, () => 0);
    const read = (query: { after?: number; limit?: number; level?: "info" | "warn" | "error" }) => {
      const { texts, ...rest } = log.read({ limit: 10, level: "info", ...query });
      return { ...rest, read: texts.map((text) => JSON.parse(text).msg) };
    };
    expect(read({})).toEqual({ read: [], last: 0, hasMore: false, gap: false });
    log.info("one");
    log.warn("two");
    log.error("three");
    log.info("four");
    expect(read({ limit: 2 })).toEqual({ read: ["three", "four"], last: 4, hasMore: false, gap: false });
    expect(read({ level: "warn" })).toEqual({ read: ["two", "three"], last: 4, hasMore: false, gap: false });
    expect(read({ after: 0, limit: 3 })).toEqual({
      ...{ read: ["one", "two", "three"], last: 3, hasMore: true, gap: false },
    });
    expect(read({ after: 3 })).toEqual({ read: ["four"], last: 4, hasMore: false, gap: false });
    // The cursor passes lines of lower levels.
    expect(read({ after: 3, level: "error" })).toEqual({ read: [], last: 4, hasMore: false, gap: false });
    expect(read({ after: 99 })).toEqual({ read: [], last: 4, hasMore: false, gap: false });
    for (let nth = 0; nth < 2000; nth++) log.info("many", { more: "x".repeat(500) });
    const late = read({ after: 4, limit: 2000 });
    expect(late).toMatchObject({ last: 2004, hasMore: false, gap: true });
    expect(late.read.length).toBeLessThan(2000);
    expect(read({ after: 2003 })).toMatchObject({ read: ["many"], gap: false });
  });
});
