import { expect, it } from "vitest";
import { archivePath, isThreadId, sessionPath, threadIdOf } from "./journal-paths.ts";

/** A thread ID that contains a time. */
function idAt(time: string, tail = "7000-8000-000000000001"): string {
  const hex = Date.parse(time).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${tail}`;
}

it("derives the path of a journal from the time in the thread's ID", () => {
  const one = idAt("2026-11-15T20:08:56.999Z");
  const later = idAt("2026-11-15T20:08:57.000Z");
  const nextDay = idAt("2026-11-16T00:00:00.000Z");
  const day = "/home/sessions/2026/11/15";
  // In any order, since the last folder and the last second are cached.
  for (let round = 0; round < 2; round++) {
    expect(sessionPath("/home", one)).toBe(`${day}/rollout-2026-11-15T20-08-56-${one}.jsonl`);
    expect(sessionPath("/home", later)).toBe(`${day}/rollout-2026-11-15T20-08-57-${later}.jsonl`);
    expect(sessionPath("/other", later)).toBe(
      `/other/sessions/2026/11/15/rollout-2026-11-15T20-08-57-${later}.jsonl`,
    );
    expect(sessionPath("/other", nextDay)).toBe(
      `/other/sessions/2026/11/16/rollout-2026-11-16T00-00-00-${nextDay}.jsonl`,
    );
    expect(archivePath("/home", one)).toBe(
      `/home/archived_sessions/rollout-2026-11-15T20-08-56-${one}.jsonl`,
    );
  }
});

it("has a path for a made-up ID of any time", () => {
  expect(sessionPath("/home", "ffffffff-ffff-7000-8000-000000000001")).toBe(
    "/home/sessions/9999/12/31/rollout-9999-12-31T23-59-59-ffffffff-ffff-7000-8000-000000000001.jsonl",
  );
  expect(sessionPath("/home", "00000000-0000-7000-8000-000000000001")).toBe(
    "/home/sessions/1970/01/01/rollout-1970-01-01T00-00-00-00000000-0000-7000-8000-000000000001.jsonl",
  );
});

it("finds the thread in the name of a journal, and in no other name", () => {
  const id = idAt("2026-11-15T20:08:56Z");
  const name = `rollout-2026-11-15T20-08-56-${id}.jsonl`;
  expect(threadIdOf(name)).toBe(id);
  for (const other of [
    "",
    id,
    `x${name}`,
    `${name}x`,
    `${name}.part`,
    name.replace("rollout", "rolled"),
    name.replace(id, id.replace("-", "x")),
    name.replace(id, id.toUpperCase().replace(/^./, "A")),
    name.replace("T20-08-56", ""),
  ])
    expect(threadIdOf(other), other).toBeUndefined();
});

it("recognizes thread IDs", () => {
  const id = idAt("2026-11-15T20:08:56Z");
  expect(isThreadId(id)).toBe(true);
  for (const other of ["", "../../etc/passwd", `${id}0`, `0${id}`, id.slice(1), id.replaceAll("-", "")])
    expect(isThreadId(other), other).toBe(false);
});
