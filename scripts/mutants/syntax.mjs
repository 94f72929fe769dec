// Walks syntax trees of TypeScript, without the types in them.

/** Calls `enter` for a node and everything in it, parents first. */
export function visit(node, enter, parent) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const child of node) visit(child, enter, parent);
    return;
  }
  if (typeof node.type !== "string" || isType(node)) return;
  enter(node, parent);
  for (const [name, child] of Object.entries(node)) if (name !== "parent") visit(child, enter, node);
}

/** Type annotations, interfaces and imports; expressions such as `x as T` are walked. */
function isType({ type }) {
  if (type === "ImportDeclaration" || type === "TSEnumDeclaration") return true;
  return type.startsWith("TS") && !/^TS(As|Satisfies|NonNull)|^TSParameterProperty/.test(type);
}
