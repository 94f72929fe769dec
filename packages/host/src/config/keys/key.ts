/** One key of config.toml: its type and its description. */
export interface Key {
  readonly type: KeyType;
  /** One plain sentence. */
  readonly about: string;
  /** The default in words. */
  readonly default?: string;
  /** Marks a key of the Codex CLI that has no effect in Bobbin. Its value is not checked. */
  readonly codexOnly?: true;
  /** Whether the key takes effect only when the host starts. */
  readonly atStart?: true;
}

export type KeyTable = Readonly<Record<string, Key>>;

export type KeyType =
  | { readonly kind: "text" }
  | { readonly kind: "choice"; readonly among: readonly string[] }
  | { readonly kind: "flag" }
  | { readonly kind: "whole"; readonly least: number; readonly most?: number }
  | { readonly kind: "number" }
  | { readonly kind: "list"; readonly of: KeyType }
  | TableType
  | { readonly kind: "either"; readonly of: readonly KeyType[] }
  | { readonly kind: "any" };

export interface TableType {
  readonly kind: "table";
  readonly keys: KeyTable;
  /** Entries with names that the user chooses, as in `[mcp_servers.NAME]`. */
  readonly named?: { readonly name: string; readonly key: Key };
}

export const text: KeyType = { kind: "text" };
export const flag: KeyType = { kind: "flag" };
export const number: KeyType = { kind: "number" };
export const any: KeyType = { kind: "any" };
export const textList: KeyType = { kind: "list", of: text };

export function choice(...among: readonly string[]): KeyType {
  return { kind: "choice", among };
}

export function whole(least: number, most?: number): KeyType {
  return { kind: "whole", least, ...(most !== undefined && { most }) };
}

export function list(of: KeyType): KeyType {
  return { kind: "list", of };
}

export function either(...of: readonly KeyType[]): KeyType {
  return { kind: "either", of };
}

/** A table with these keys and no others. */
export function table(keys: KeyTable): TableType {
  return { kind: "table", keys };
}

/** A table of entries that the user names. `keys` are reserved names with a meaning of their own. */
export function named(name: string, type: KeyType, about: string, keys: KeyTable = {}): TableType {
  return { kind: "table", keys, named: { name, key: { type, about } } };
}

/** A table from names to strings. */
export function textsByName(name: string, about: string): TableType {
  return named(name, either(text, number, flag), about);
}

/** Keys of the Codex CLI that have no effect in Bobbin. */
export function codexOnly(...names: readonly string[]): KeyTable {
  const about = "A key of the Codex CLI that has no effect in Bobbin.";
  return Object.fromEntries(names.map((name) => [name, { type: any, about, codexOnly: true }]));
}
