import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemOf } from "./record-problem.ts";
import { RECORDS } from "./records.ts";

type Json = { [key: string]: unknown };

const golden = join(import.meta.dirname, "..", "thread", "golden-journal", "journal.jsonl");
const records: Json[] = readFileSync(golden, "utf8")
  .trimEnd()
  .split("\n")
  .flatMap((line) => JSON.parse(line).records);

/** The paths of all nested values, as lists of keys and indexes. */
function* places(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [...path, key];
    yield* places(inner, [...path, key]);
  }
}

function changed(
  value: unknown,
  path: readonly string[],
  change: (holder: Json, key: string) => void,
): unknown {
  const copy: unknown = structuredClone(value);
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Json)[key], copy);
  change(holder as Json, path.at(-1)!);
  return copy;
}

/** A value of another JSON type. */
function wrong(value: unknown): unknown {
  if (Array.isArray(value)) return { wrong: [] };
  if (typeof value === "object") return ["wrong"];
  return typeof value === "string" ? { wrong: "" } : "wrong";
}

function damages(change: (holder: Json, key: string) => void): { refused: number; taken: string[] } {
  const taken = new Set<string>();
  let refused = 0;
  for (const record of records) {
    for (const path of places(record)) {
      if (problemOf(changed(record, path, change)) !== undefined) refused++;
      else taken.add(`${record.type} ${path.join(".").replace(/\d+/g, "N")}`);
    }
  }
  return { refused, taken: [...taken].sort() };
}

/** Fields with values of clients, models and tool servers, which the core does not read. */
const FREE =
  /\b(arguments|carry\.data|plan(?!\.N)|outputSchema|items\.N|kept\.N\.item|result|shown\.(content\.N|_meta)|params\._meta|view|views\.N\.content)\b/;

describe("a record from disk", () => {
  it("is read if it is as this program writes it", () => {
    for (const record of records) expect(problemOf(record)).toBeUndefined();
    expect(new Set(records.map(({ type }) => type))).toEqual(new Set(Object.keys(RECORDS)));
  });

  it("[JOURNAL-5] is damaged if a value anywhere in it has another type", () => {
    const { refused, taken } = damages((holder, key) => {
      holder[key] = wrong(holder[key]);
    });
    expect(taken.filter((place) => !FREE.test(place))).toEqual([]);
    expect(refused).toBeGreaterThan(1000);
  });

  it("[JOURNAL-5] is damaged if something that it needs is missing or null", () => {
    const { taken: missing } = damages((holder, key) => {
      if (!Array.isArray(holder)) delete holder[key];
    });
    const { taken: nulls } = damages((holder, key) => {
      holder[key] = null;
    });
    expect(missing.filter((place) => /^checkpoint state\.\w+$/.test(place))).toEqual([]);
    expect(nulls).not.toContain("checkpoint state.requests");
    // Some server requests belong to no turn.
    const ids = nulls.filter((place) => /[. ](id|at|turnId|callId|type)$/.test(place) && !FREE.test(place));
    expect(ids).toEqual(
      ["requestSent request.params.turnId", "goalChanged turnId", "submissionRemoved turnId"].sort(),
    );
  });

  it("is of a later program if its type or its version is unknown", () => {
    expect(problemOf({ type: "later", at: 1 })).toBe("newer");
    expect(problemOf({ type: "renamed", v: 2, at: 1, name: null })).toBe("newer");
    expect(problemOf({ type: "constructor" })).toBe("newer");
  });

  it("is damaged if a bit of its type is wrong", () => {
    for (const type of ["senamed", "renaoed", "Renamed", "renamet"]) {
      expect(problemOf({ type, at: 1, name: null })).toMatch(/a bit of it is wrong/);
    }
    // Two bits of one letter, and a bit of each of two letters.
    for (const type of ["renameg", "senamet"]) expect(problemOf({ type, at: 1, name: null })).toBe("newer");
    // No two known types differ by a single bit.
    const types = Object.keys(RECORDS);
    for (const type of types) expect(problemOf({ type: `${type}x` })).toBe("newer");
  });

  it.each([null, 7, "renamed", [], {}, { type: 7 }, { type: "renamed", v: "1", at: 1, name: null }])(
    "is damaged if it is no record at all: %j",
    (value) => {
      expect(problemOf(value)).toMatch(/^it |^renamed has no version/);
    },
  );

  it("says where the damage is", () => {
    const checkpoint = records.find(({ type }) => type === "checkpoint")!;
    const bad = changed(checkpoint, ["state", "requests"], (holder, key) => {
      holder[key] = null;
    });
    expect(problemOf(bad)).toBe("checkpoint: state.requests: expected an array, got null");
  });
});
