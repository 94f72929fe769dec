import { describe, expect, it } from "vitest";
import { Encoded, jsonOf } from "./encoded-json.ts";

interface Pair {
  readonly a: number[];
  readonly b?: string;
}

describe("Encoded", () => {
  it("is inserted into an object unchanged", () => {
    const a = new Encoded<number[]>("[1, 2]");
    expect(Encoded.with<Pair, "a">({ b: 'x"' }, "a", a).json).toBe('{"a":[1, 2],"b":"x\\""}');
    expect(Encoded.with<Pair, "a">({}, "a", a).json).toBe('{"a":[1, 2]}');
    expect(Encoded.with<Pair, "a">({ b: undefined } as unknown as Pair, "a", a).json).toBe('{"a":[1, 2]}');
  });

  it("is not encoded again", () => {
    expect(jsonOf(Encoded.of({ a: [1] }))).toBe('{"a":[1]}');
    expect(jsonOf({ a: [1] })).toBe('{"a":[1]}');
  });
});
