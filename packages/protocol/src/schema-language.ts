// A small schema language. A validation library would cost half of the cold-start budget. A schema here is plain data:
// `schema-check.ts` and `exact-schema-match.ts` validate values against it, and the generators print it. Named types
// declare their fields in a function, so nothing is built at import and modules may refer to each other in any order.

declare const TYPE: unique symbol;

/** A schema. `T` is the static type of the values that it accepts. */
export interface Schema<out T> {
  readonly kind: Node["kind"];
  readonly [TYPE]: T;
}

/** A key that may be absent; `null` counts as absent. */
export interface OptionalField<out T> {
  readonly kind: "optional";
  readonly nullable: true;
  readonly [TYPE]: T;
}

/** A key that may be absent. Bobbin never sends it as `null`; a `null` from a client is dropped. */
export interface OmittableField<out T> {
  readonly kind: "optional";
  readonly nullable: false;
  readonly [TYPE]: T;
}

type AnyField = Schema<unknown> | OptionalField<unknown> | OmittableField<unknown>;
export type Fields = { readonly [key: string]: AnyField };
type Variants = { readonly [tag: string]: Fields | readonly Fields[] };

type OptionalKeys<F> = {
  [K in keyof F]: F[K] extends { readonly kind: "optional" } ? K : never;
}[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
type FieldType<F> =
  F extends OptionalField<infer T>
    ? T | null | undefined
    : F extends OmittableField<infer T>
      ? T | undefined
      : never;

export type ObjectOf<F> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: F[K] extends Schema<infer T> ? T : never } & {
    [K in OptionalKeys<F>]?: FieldType<F[K]>;
  }
>;
type VariantOf<K extends string, Tag, F, C> = F extends readonly unknown[]
  ? { [I in keyof F]: Flat<{ [P in K]: Tag } & ObjectOf<F[I]> & C> }[number]
  : Flat<{ [P in K]: Tag } & ObjectOf<F> & C>;
export type TaggedOf<K extends string, V, C> = { [Tag in keyof V]: VariantOf<K, Tag, V[Tag], C> }[keyof V];

export type Static<S> = S extends Schema<infer T> ? T : never;

/** The runtime form of a schema, for the validators and the generators. */
export type Node =
  | { kind: "string"; minLength: number; isPath: boolean }
  | { kind: "boolean" }
  | { kind: "integer"; minimum: number; maximum: number; format: IntegerFormat }
  | { kind: "number" }
  | { kind: "unknown" }
  | { kind: "nothing" }
  | EnumNode
  | { kind: "array"; item: Node }
  | { kind: "record"; value: Node }
  | { kind: "nullable"; inner: Node }
  | { kind: "gated"; inner: Node; gate: string }
  | ObjectNode
  | TaggedNode
  | UnionNode;

export interface EnumNode {
  kind: "enum";
  name: string;
  values: readonly string[];
  aliases: { readonly [alias: string]: string };
}
export interface ObjectNode {
  kind: "object";
  name: string;
  /** What happens to keys that the schema does not name. */
  others: "dropped" | "kept" | "refused";
  make: () => Fields;
  built: Shape | undefined;
}
export interface TaggedNode {
  kind: "tagged";
  name: string;
  tag: string;
  make: () => Variants;
  makeCommon: (() => Fields) | undefined;
  aliases: { readonly [alias: string]: string };
  built: Map<string, readonly Shape[]> | undefined;
}
export interface UnionNode {
  kind: "union";
  name: string;
  make: () => readonly Schema<unknown>[];
  built: readonly Node[] | undefined;
}
export interface FieldNode {
  key: string;
  node: Node;
  optional: boolean;
  /** Whether null is accepted for an absent key. */
  nullable: boolean;
  experimental: boolean;
  /** Refused without the experimental capability. False for fields of `initialize`, which declares the capability. */
  gated: boolean;
  /** True for a field that the Codex CLI does not have. */
  ours: boolean;
  /** Set for a key that is not part of the type. `retired`: passed to the handler unchecked. `refused`: invalid. */
  outside: "retired" | "refused" | undefined;
}
export type Shape = readonly FieldNode[];

interface OptionalNode {
  kind: "optional";
  nullable: boolean;
  inner: Node;
  experimental: boolean;
  gated: boolean;
  ours: boolean;
  outside: FieldNode["outside"];
}

const seal = <T>(node: Node): Schema<T> => node as unknown as Schema<T>;
export const nodeOf = (schema: Schema<unknown>): Node => schema as unknown as Node;

const STRING = seal<string>({ kind: "string", minLength: 0, isPath: false });
const FILE_PATH = seal<string>({ kind: "string", minLength: 0, isPath: true });
const BOOLEAN = seal<boolean>({ kind: "boolean" });
const NUMBER = seal<number>({ kind: "number" });
const UNKNOWN = seal<unknown>({ kind: "unknown" });
const NOTHING = seal<undefined>({ kind: "nothing" });

export function string(limits?: { minLength: number }): Schema<string> {
  return limits ? seal({ kind: "string", minLength: limits.minLength, isPath: false }) : STRING;
}
/**
 * A path in the file system, in what a client sends: the character NUL is refused, because no file can have it in its
 * name. `fs/*` and `fuzzyFileSearch` take any string and refuse NUL themselves, with the error of the Codex CLI.
 */
export const filePath = (): Schema<string> => FILE_PATH;
export const boolean = (): Schema<boolean> => BOOLEAN;
export const number = (): Schema<number> => NUMBER;
/** Any JSON value. Its content is not validated. */
export const unknown = (): Schema<unknown> => UNKNOWN;
/** For methods without params: absent params, null and any object are accepted. */
export const nothing = (): Schema<undefined> => NOTHING;

export type IntegerFormat = "uint16" | "uint32" | "uint64" | "int32" | "int64";
const RANGES: Record<IntegerFormat, readonly [number, number]> = {
  uint16: [0, 0xffff],
  uint32: [0, 0xffff_ffff],
  // JSON numbers are parsed as doubles. Beyond this limit, different integers would be equal.
  uint64: [0, Number.MAX_SAFE_INTEGER],
  int32: [-0x8000_0000, 0x7fff_ffff],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};
export function integer(
  format: IntegerFormat = "int64",
  limits: { minimum?: number; maximum?: number } = {},
): Schema<number> {
  const [minimum, maximum] = RANGES[format];
  return seal({
    kind: "integer",
    minimum: limits.minimum ?? minimum,
    maximum: limits.maximum ?? maximum,
    format,
  });
}

/** An enum of strings. camelCase, kebab-case and snake_case of each value are accepted; `aliases` adds other words. */
export function enumeration<const V extends string>(
  name: string,
  values: readonly V[],
  options: { aliases?: { readonly [alias: string]: V } } = {},
): Schema<V> {
  return seal({ kind: "enum", name, values, aliases: options.aliases ?? {} });
}

export function array<T>(item: Schema<T>): Schema<T[]> {
  return seal({ kind: "array", item: nodeOf(item) });
}
export function record<T>(value: Schema<T>): Schema<{ [key: string]: T }> {
  return seal({ kind: "record", value: nodeOf(value) });
}
export function nullable<T>(inner: Schema<T>): Schema<T | null> {
  return seal({ kind: "nullable", inner: nodeOf(inner) });
}
/** An option of a union that needs the experimental capability. `gate` names it in the error. */
export function gated<T>(inner: Schema<T>, gate: string): Schema<T> {
  return seal({ kind: "gated", inner: nodeOf(inner), gate });
}

export function object<F extends Fields>(name: string, make: () => F): Schema<ObjectOf<F>> {
  return seal({ kind: "object", name, others: "dropped", make, built: undefined });
}
/** An object type without a name: the generators print it inline. */
export const inline = <F extends Fields>(make: () => F): Schema<ObjectOf<F>> => object("", make);

/** An object type that keeps unknown keys. */
export function open<T>(closed: Schema<T>): Schema<T & { [key: string]: unknown }> {
  return seal({ ...(closed as unknown as ObjectNode), others: "kept" });
}
/** An object type that refuses unknown keys: silently dropping one would look as if it had been obeyed. */
export function exact<T>(loose: Schema<T>): Schema<T> {
  return seal({ ...(loose as unknown as ObjectNode), others: "refused" });
}

/**
 * A union of objects that is discriminated by the key `tag`. A variant with a list of field sets accepts any of them.
 */
export function tagged<K extends string, V extends Variants, C extends Fields = Record<never, never>>(
  name: string,
  tag: K,
  make: () => V,
  options: { common?: () => C; aliases?: { readonly [alias: string]: keyof V & string } } = {},
): Schema<TaggedOf<K, V, ObjectOf<C>>> {
  const aliases = options.aliases ?? {};
  return seal({ kind: "tagged", name, tag, make, makeCommon: options.common, aliases, built: undefined });
}

export function union<const S extends readonly Schema<unknown>[]>(
  name: string,
  make: () => S,
): Schema<Static<S[number]>> {
  return seal({ kind: "union", name, make, built: undefined });
}

export function optional<T>(inner: Schema<T>): OptionalField<Exclude<T, null>> {
  return field(inner, true, {}) as unknown as OptionalField<Exclude<T, null>>;
}
export function omittable<T>(inner: Schema<T>): OmittableField<T> {
  return field(inner, false, {}) as unknown as OmittableField<T>;
}

interface Marks {
  ours?: boolean;
  gated?: boolean;
}
/**
 * An optional key that needs the experimental capability when it is used: when it is present and not null or, for
 * `experimental.omittable`, when it is neither false nor an empty array.
 */
export function experimental<T>(inner: Schema<T>, marks: Marks = {}): OptionalField<Exclude<T, null>> {
  return field(inner, true, { ...marks, experimental: true }) as unknown as OptionalField<Exclude<T, null>>;
}
experimental.omittable = <T>(inner: Schema<T>, marks: Marks = {}): OmittableField<T> =>
  field(inner, false, { ...marks, experimental: true }) as unknown as OmittableField<T>;

/**
 * A key that was removed from the protocol. It is passed to the handler unchecked, so that the handler can refuse it.
 */
export const retired = (): OmittableField<never> =>
  field(UNKNOWN, true, { ours: true, outside: "retired" }) as unknown as OmittableField<never>;
/** A key that must be absent, even as `null`. Distinguishes the options of a union. */
export const refused = (): OmittableField<never> =>
  field(UNKNOWN, true, { ours: true, outside: "refused" }) as unknown as OmittableField<never>;

function field(
  inner: Schema<unknown>,
  isNullable: boolean,
  marks: Marks & { experimental?: boolean; outside?: FieldNode["outside"] },
): OptionalNode {
  return {
    kind: "optional",
    nullable: isNullable,
    inner: nodeOf(inner),
    experimental: marks.experimental ?? false,
    gated: (marks.experimental ?? false) && (marks.gated ?? true),
    ours: marks.ours ?? false,
    outside: marks.outside,
  };
}

export function shapeOf(node: ObjectNode): Shape {
  node.built ??= toShape(node.make());
  return node.built;
}
/** The shapes of one variant, without building the others. Undefined if no variant has the tag. */
export function variantOf(node: TaggedNode, tag: string): readonly Shape[] | undefined {
  if (node.built) return node.built.get(tag);
  const variants = node.make();
  if (!Object.hasOwn(variants, tag)) return undefined;
  return setsOf(variants[tag]!).map((set) => [...toShape(set), ...commonOf(node)]);
}
export function variantsOf(node: TaggedNode): Map<string, readonly Shape[]> {
  if (node.built) return node.built;
  const common = commonOf(node);
  const built = new Map<string, readonly Shape[]>();
  for (const [tag, fields] of Object.entries(node.make())) {
    built.set(
      tag,
      setsOf(fields).map((set) => [...toShape(set), ...common]),
    );
  }
  node.built = built;
  return built;
}
function commonOf({ makeCommon }: TaggedNode): Shape {
  return makeCommon ? toShape(makeCommon()) : [];
}
function setsOf(fields: Fields | readonly Fields[]): readonly Fields[] {
  return Array.isArray(fields) ? fields : [fields as Fields];
}
export function optionsOf(node: UnionNode): readonly Node[] {
  node.built ??= node.make().map(nodeOf);
  return node.built;
}

const REQUIRED = {
  nullable: false,
  experimental: false,
  gated: false,
  ours: false,
  outside: undefined,
} as const;

function toShape(fields: Fields): Shape {
  return Object.entries(fields).map(([key, entry]) => {
    if (entry.kind === "optional") {
      const { kind: _, inner, ...marks } = entry as unknown as OptionalNode;
      return { key, node: inner, optional: true, ...marks };
    }
    const node = nodeOf(entry as Schema<unknown>);
    return { key, node, optional: false, ...REQUIRED };
  });
}
