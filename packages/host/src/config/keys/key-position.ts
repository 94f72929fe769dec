import type { TomlDocument } from "@decimalturn/toml-patch";

type Blocks = TomlDocument["cst"];
type KeyValue = Extract<Blocks[number], { equals: number }>;

interface KeyPosition {
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
}

/**
 * Finds the first position of a key in a TOML text; line 1, column 1 if it is not found. Numbers in `path` are
 * indexes of lists.
 */
export function keyPosition(blocks: Blocks, path: readonly (string | number)[]): KeyPosition {
  for (const { at, loc } of placesOf(blocks))
    if (path.length <= at.length && path.every((key, nth) => at[nth] === key))
      return { line: loc.start.line, column: loc.start.column + 1, endColumn: loc.end.column + 1 };
  return { line: 1, column: 1, endColumn: 1 };
}

interface Written {
  readonly at: readonly (string | number)[];
  readonly loc: Blocks[number]["loc"];
}

function* placesOf(blocks: Blocks): Iterable<Written> {
  const counts = new Map<string, number>();
  for (const block of blocks) {
    if ("equals" in block) yield* pairPlaces(block, []);
    if (!("items" in block)) continue;
    const { key } = block;
    const path = withPositions(key.item.value, String(key.type) === "TableArrayKey", counts);
    yield { at: path, loc: key.item.loc };
    for (const item of block.items) if ("equals" in item) yield* pairPlaces(item, path);
  }
}

function* pairPlaces({ key, value }: KeyValue, above: Written["at"]): Iterable<Written> {
  const at = [...above, ...key.value];
  yield { at, loc: key.loc };
  yield* valuePlaces(value, at);
}

function* valuePlaces(value: KeyValue["value"], at: Written["at"]): Iterable<Written> {
  if (!("items" in value)) return;
  const isList = String(value.type) === "InlineArray";
  for (const [nth, { item }] of value.items.entries())
    if (isList) yield* valuePlaces(item as KeyValue["value"], [...at, nth]);
    else yield* pairPlaces(item as KeyValue, at);
}

/**
 * Adds to the keys of a header the index of the current entry of each list of tables on its path. `counts` has the
 * number of entries so far.
 */
function withPositions(keys: readonly string[], isList: boolean, counts: Map<string, number>): Written["at"] {
  const path: (string | number)[] = [];
  for (const [nth, key] of keys.entries()) {
    path.push(key);
    const name = JSON.stringify(path);
    if (isList && nth === keys.length - 1) counts.set(name, (counts.get(name) ?? 0) + 1);
    const count = counts.get(name);
    if (count !== undefined) path.push(count - 1);
  }
  return path;
}
