// Lint rules of our own, loaded by oxlint (`jsPlugins` in .oxlintrc.json).

/** Matchers and parts of matchers that compare by structure. */
const STRUCTURAL = new Set([
  "toMatchObject",
  "toEqual",
  "toStrictEqual",
  "toContainEqual",
  "toHaveBeenCalledWith",
  "objectContaining",
  "arrayContaining",
]);

/** The name that a call is made by: `b` of `a.b()`, `b` of `b()`. */
function calledName({ callee }) {
  if (callee.type === "MemberExpression" && !callee.computed) return callee.property.name;
  return callee.type === "Identifier" ? callee.name : undefined;
}

/** Whether a value becomes a part of what a structural matcher compares with. */
function isExpected(node) {
  for (let part = node, { parent } = node; parent; part = parent, { parent } = parent) {
    if (parent.type === "CallExpression" && parent.callee !== part) return STRUCTURAL.has(calledName(parent));
    if (/Function/.test(parent.type) || /(Statement|Declaration)$/.test(parent.type)) return false;
  }
  return false;
}

/**
 * `toMatchObject({ message: /403/ })` holds for every message: a pattern is an object without members of its own, and
 * so is a part of everything. `expect.stringMatching(/403/)` compares.
 */
const noPatternInMatcher = {
  meta: { type: "problem" },
  create(context) {
    const check = (node) => {
      if (!isExpected(node)) return;
      const message = "A pattern compares nothing here. Write expect.stringMatching(…).";
      context.report({ node, message });
    };
    return {
      Literal: (node) => node.regex && check(node),
      NewExpression: (node) => node.callee.name === "RegExp" && check(node),
    };
  },
};

export default { meta: { name: "bobbin" }, rules: { "no-pattern-in-matcher": noPatternInMatcher } };
