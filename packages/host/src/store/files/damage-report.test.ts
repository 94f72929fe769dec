import { expect, it } from "vitest";
import { DamageReport } from "./damage-report.ts";

function stage() {
  const logged: unknown[] = [];
  const report = new DamageReport({
    debug() {},
    info() {},
    warn: (message, fields) => void logged.push({ message, ...fields }),
    error() {},
  });
  /** One pass over a journal that skips these ranges. */
  const pass = (path: string, ...ranges: (readonly [number, number])[]): unknown[] => {
    const reading = report.reading(path);
    for (const [start, end] of ranges) reading.leaveOut(start, end, `damage at ${start}`);
    reading.done();
    return logged.splice(0);
  };
  return { report, logged, pass };
}

const MESSAGE = "parts of a journal cannot be read and were left out";

it("logs one line per pass: how many parts and bytes, and where the first one is", () => {
  const { pass } = stage();
  expect(pass("/a")).toEqual([]);
  expect(pass("/a", [100, 150], [20, 40], [300, 301])).toEqual([
    { message: MESSAGE, path: "/a", count: 3, bytes: 71, start: 100, end: 150, why: "damage at 100" },
  ]);
  expect(pass("/b", [0, 5])).toEqual([
    { message: MESSAGE, path: "/b", count: 1, bytes: 5, start: 0, end: 5, why: "damage at 0" },
  ]);
});

it("logs a journal again only if it is damaged before or after the known parts", () => {
  const { pass } = stage();
  expect(pass("/a", [100, 150], [200, 250])).toHaveLength(1);
  for (const known of [
    [100, 250],
    [101, 249],
    [100, 101],
    [249, 250],
  ] as const)
    expect(pass("/a", known)).toEqual([]);
  expect(pass("/a", [99, 120])).toHaveLength(1);
  expect(pass("/a", [100, 251])).toHaveLength(1);
  // Both ends are known now.
  expect(pass("/a", [99, 251])).toEqual([]);
  expect(pass("/b", [100, 150])).toHaveLength(1);
});

it("reports a pass once", () => {
  const { report, logged } = stage();
  const reading = report.reading("/a");
  reading.leaveOut(0, 5, "damage");
  reading.done();
  reading.done();
  expect(logged).toHaveLength(1);
  reading.leaveOut(50, 60, "more");
  reading.done();
  expect(logged).toMatchObject([{ count: 1 }, { count: 1, bytes: 10, start: 50 }]);
});

it("remembers the last thousand damaged journals", () => {
  const { pass } = stage();
  for (let at = 0; at < 1000; at++) pass(`/${at}`, [0, 5]);
  expect(pass("/0", [0, 5])).toEqual([]);
  // Reported anew, it is the newest one.
  expect(pass("/0", [0, 6])).toHaveLength(1);
  pass("/1000", [0, 5]);
  expect(pass("/0", [0, 5])).toEqual([]);
  expect(pass("/2", [0, 5])).toEqual([]);
  expect(pass("/1", [0, 5])).toHaveLength(1);
  expect(pass("/2", [0, 5])).toHaveLength(1);
});
