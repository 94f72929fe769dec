// A small schema language of our own instead of a validation library: a library loaded whole costs half of
// the cold start that we are allowed, and this one is plain data. One interpreter (check.ts) validates it,
// and the generators print it. Named types keep their fields in a thunk, so nothing is built at import and
// modules may refer to each other in any order.

declare const TYPE: unique symbol;

/** A node of the schema; `T` is what a value that it accepts looks like in TypeScript. */
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

/** A key that may be absent and is never sent as `null`; a `null` that a client sends is dropped. */
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

// What the interpreter and the generators see.
export type Node =
  | { kind: "string"; minLength: number }
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
  open: boolean;
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
  /** Absent may also be told as null. */
  nullable: boolean;
  experimental: boolean;
  /** Refused without the capability; false for what `initialize` itself declares. */
  gated: boolean;
  /** Not known to the peer. */
  ours: boolean;
  /** A key that is not part of the type: `retired` ones reach the handler as they came, `refused` ones fail. */
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

const STRING = seal<string>({ kind: "string", minLength: 0 });
const BOOLEAN = seal<boolean>({ kind: "boolean" });
const NUMBER = seal<number>({ kind: "number" });
const UNKNOWN = seal<unknown>({ kind: "unknown" });
const NOTHING = seal<undefined>({ kind: "nothing" });

export function string(limits?: { minLength: number }): Schema<string> {
  return limits ? seal({ kind: "string", minLength: limits.minLength }) : STRING;
}
export const boolean = (): Schema<boolean> => BOOLEAN;
export const number = (): Schema<number> => NUMBER;
/** Any JSON value; it is not walked. */
export const unknown = (): Schema<unknown> => UNKNOWN;
/** A method without params: none, null and any object are taken. */
export const nothing = (): Schema<undefined> => NOTHING;

export type IntegerFormat = "uint16" | "uint32" | "uint64" | "int32" | "int64";
const RANGES: Record<IntegerFormat, readonly [number, number]> = {
  uint16: [0, 0xffff],
  uint32: [0, 0xffff_ffff],
  // JSON numbers are doubles here: past this, two different integers would read as the same one.
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

/** camelCase, kebab-case and snake_case of each value are taken anyway; `aliases` are for other words. */
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
/** An option of a union that needs the experimental capability, refused under the name `gate`. */
export function gated<T>(inner: Schema<T>, gate: string): Schema<T> {
  return seal({ kind: "gated", inner: nodeOf(inner), gate });
}

export function object<F extends Fields>(name: string, make: () => F): Schema<ObjectOf<F>> {
  return seal({ kind: "object", name, open: false, make, built: undefined });
}
/** An object without a name of its own. */
export const inline = <F extends Fields>(make: () => F): Schema<ObjectOf<F>> => object("", make);

/** An object whose other keys carry meaning too. */
export function open<T>(closed: Schema<T>): Schema<T & { [key: string]: unknown }> {
  return seal({ ...(closed as unknown as ObjectNode), open: true });
}

/** Objects told apart by one key. A variant with a list of field sets takes any one of them. */
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
 * Needs the experimental capability as soon as it is used: when it is there and not null, or, for one that
 * is never null (`experimental.omittable`), when it differs from false and from an empty list.
 */
export function experimental<T>(inner: Schema<T>, marks: Marks = {}): OptionalField<Exclude<T, null>> {
  return field(inner, true, { ...marks, experimental: true }) as unknown as OptionalField<Exclude<T, null>>;
}
experimental.omittable = <T>(inner: Schema<T>, marks: Marks = {}): OmittableField<T> =>
  field(inner, false, { ...marks, experimental: true }) as unknown as OmittableField<T>;

/** A key that the protocol no longer has. It reaches the handler as it came, so that the handler can refuse it. */
export const retired = (): OmittableField<never> =>
  field(UNKNOWN, true, { ours: true, outside: "retired" }) as unknown as OmittableField<never>;
/** A key that must not be there, not even as `null`: the value belongs to another option of a union then. */
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
/** The shapes of one variant; cheaper than all of them. Undefined if there is no such tag. */
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
