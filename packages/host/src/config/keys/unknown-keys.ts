import type { Table } from "../table-reader.ts";
import { CONFIG_KEYS } from "./catalogue.ts";
import type { KeyTable, KeyType, TableType } from "./key.ts";
import { nearestName } from "./nearest-name.ts";

export interface UnknownKey {
  /** Keys, and indexes of lists. */
  readonly path: readonly (string | number)[];
  /** Full path of the key that was probably meant; null if no name is similar. */
  readonly likely: string | null;
}

/** Finds the keys of a table that are not in the catalogue, in the order of the table. `most` limits their number. */
export function unknownKeys(
  table: Table,
  {
    keys = CONFIG_KEYS,
    most = Number.POSITIVE_INFINITY,
  }: { readonly keys?: KeyTable; readonly most?: number } = {},
): readonly UnknownKey[] {
  const found: UnknownKey[] = [];
  for (const one of within(table, { kind: "table", keys }, [], keys)) {
    if (found.push(one) >= most) break;
  }
  return found;
}

function* within(
  value: unknown,
  type: KeyType,
  path: UnknownKey["path"],
  root: KeyTable,
): Iterable<UnknownKey> {
  if (type.kind === "list" && Array.isArray(value))
    for (const [nth, item] of value.entries()) yield* within(item, type.of, [...path, nth], root);
  const known = tableType(type);
  if (known === undefined || !isTable(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, name];
    const key = Object.hasOwn(known.keys, name) ? known.keys[name]! : known.named?.key;
    if (key === undefined) yield { path: at, likely: likelyKey(name, known.keys, path, root) };
    else if (key.codexOnly !== true) yield* within(inner, key.type, at, root);
  }
}

/** The table type among the possible types of a value. It defines the known keys. */
function tableType(type: KeyType): TableType | undefined {
  if (type.kind === "table") return type;
  if (type.kind !== "either" || type.of.some(({ kind }) => kind === "any")) return undefined;
  return type.of.map(tableType).find((one) => one !== undefined);
}

/**
 * Returns a key of the same table with a similar name, else a key of the root: users often write a root key below a
 * header by mistake.
 */
function likelyKey(name: string, keys: KeyTable, path: UnknownKey["path"], root: KeyTable): string | null {
  const near = nearestName(name, Object.keys(keys));
  if (near !== null) return [...path.filter((one) => typeof one === "string"), near].join(".");
  if (path.length > 0) return Object.hasOwn(root, name) ? name : null;
  return keyBelow(name, root);
}

/** Finds a table of the root that has this key: users often write a table's key above its header by mistake. */
function keyBelow(name: string, root: KeyTable): string | null {
  const found = Object.entries(root).find(
    ([, { type, codexOnly }]) => codexOnly !== true && Object.hasOwn(tableType(type)?.keys ?? {}, name),
  );
  return found === undefined ? null : `${found[0]}.${name}`;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
