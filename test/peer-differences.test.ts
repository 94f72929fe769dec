import { describe, expect, it } from "vitest";

// scripts/ is plain JavaScript; the types are stated here.
type Order = { readonly lines: readonly string[]; readonly problem: string | null };
type Orders = Record<string, Order>;
interface OrderScript {
  orderDifferences(before: Orders, after: Orders, again: readonly [Orders, Orders]): string[];
}
interface Schemas {
  schemaDifferences(before: Map<string, Set<string>>, after: Map<string, Set<string>>): string[];
}
const script = (name: string): Promise<unknown> =>
  import(/* @vite-ignore */ new URL(`../scripts/${name}`, import.meta.url).href);
const { orderDifferences } = (await script("peer-orders.mjs")) as OrderScript;
const { schemaDifferences } = (await script("peer-schemas.mjs")) as Schemas;

describe("the comparison of two versions of the Codex CLI", () => {
  it("lists methods and fields that came, went or changed", () => {
    const before = new Map([
      ["method gone", new Set(["stable"])],
      ["method same", new Set(["stable", "a: string"])],
      ["type Both", new Set(["a: string", "b: string"])],
    ]);
    const after = new Map([
      ["method new", new Set(["experimental"])],
      ["method same", new Set(["a: string", "stable"])],
      ["type Both", new Set(["a: string", "b: integer"])],
    ]);
    expect(schemaDifferences(before, after)).toEqual([
      "- method gone",
      "+ method new",
      "    experimental",
      "  type Both",
      "  - b: string",
      "  + b: integer",
    ]);
  });

  it("lists what moved in an order, and cases that neither version plays as recorded", () => {
    const order = (lines: readonly string[], problem: string | null = null): Order => ({ lines, problem });
    const before = {
      moved: order(["one", "two", "three"]),
      same: order(["one"]),
      failing: order(["one"], "no two in time\nand more"),
      varying: order(["one", "two"]),
    };
    const after = {
      moved: order(["two", "one", "three", "four"]),
      same: order(["one"]),
      failing: order(["one"], "no two in time\nelse"),
      added: order(["one"]),
      varying: order(["two", "one"]),
    };
    const again = [
      { moved: before.moved, varying: after.varying },
      { moved: after.moved, varying: after.varying },
    ] as const;
    expect(orderDifferences(before, after, again)).toEqual([
      "  case added",
      "  + 1: one",
      "  case moved",
      "  - 1: one",
      "  + 2: one",
      "  + 4: four",
      "~ case varying: its order varies with one version",
      "? case failing: both end otherwise than recorded",
      "    no two in time",
    ]);
  });
});
