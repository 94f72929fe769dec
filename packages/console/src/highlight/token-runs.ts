/** The kind of a piece of code. Each kind has a colour; the empty kind has none. */
export type TokenKind =
  | ""
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "name"
  | "type"
  | "attribute"
  | "meta"
  | "added"
  | "removed";

/** A piece of code: its kind and its length in characters. A text is a list of pieces without gaps. */
export type TokenRun = readonly [kind: TokenKind, length: number];

/** The properties of lowlight's syntax tree that are used here. */
interface TreeNode {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly TreeNode[];
}

const KINDS: Readonly<Record<string, TokenKind>> = {
  keyword: "keyword",
  literal: "keyword",
  "selector-tag": "keyword",
  name: "keyword",
  section: "keyword",
  bullet: "keyword",
  "variable language_": "keyword",
  string: "string",
  regexp: "string",
  "char escape_": "string",
  link: "string",
  code: "string",
  comment: "comment",
  quote: "comment",
  number: "number",
  symbol: "number",
  title: "name",
  "selector-class": "name",
  "selector-id": "name",
  type: "type",
  built_in: "type",
  attr: "attribute",
  attribute: "attribute",
  property: "attribute",
  variable: "attribute",
  "template-variable": "attribute",
  meta: "meta",
  doctag: "meta",
  addition: "added",
  deletion: "removed",
  subst: "",
};

/** The pieces of a highlighted text. A piece has the kind of the innermost element that has one. */
export function tokenRuns(tree: TreeNode): readonly TokenRun[] {
  const runs: [TokenKind, number][] = [];
  const walk = (node: TreeNode, kind: TokenKind) => {
    if (node.type === "text") {
      const length = node.value?.length ?? 0;
      const last = runs.at(-1);
      if (last?.[0] === kind) last[1] += length;
      else if (length > 0) runs.push([kind, length]);
      return;
    }
    const own = kindOf(node.properties?.className) ?? kind;
    for (const child of node.children ?? []) walk(child, own);
  };
  walk(tree, "");
  return runs;
}

function kindOf(className: unknown): TokenKind | undefined {
  if (!Array.isArray(className)) return undefined;
  const [first = "", ...more] = className.map((name) => String(name).replace(/^hljs-/, ""));
  return KINDS[[first, ...more].join(" ")] ?? KINDS[first];
}

/** The runs of each line of a text. Line ends are left out. */
export function lineRuns(text: string, runs: readonly TokenRun[]): readonly (readonly TokenRun[])[] {
  const lines: TokenRun[][] = [[]];
  let at = 0;
  for (const [kind, length] of runs) {
    const pieces = text.slice(at, at + length).split("\n");
    for (const [nth, piece] of pieces.entries()) {
      if (nth > 0) lines.push([]);
      if (piece !== "") lines.at(-1)!.push([kind, piece.length]);
    }
    at += length;
  }
  return lines;
}
