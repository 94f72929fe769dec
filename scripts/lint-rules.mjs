// The project's own lint rules, loaded by oxlint (`jsPlugins` in .oxlintrc.json).

/** Vitest matchers and asymmetric matchers that compare by structure. */
const STRUCTURAL = new Set([
  "toMatchObject",
  "toEqual",
  "toStrictEqual",
  "toContainEqual",
  "toHaveBeenCalledWith",
  "objectContaining",
  "arrayContaining",
]);

/** The name of the called function: `b` for `a.b()` and for `b()`. */
function calledName({ callee }) {
  if (callee.type === "MemberExpression" && !callee.computed) return callee.property.name;
  return callee.type === "Identifier" ? callee.name : undefined;
}

/** Whether a value is part of the argument of a structural matcher. */
function isExpected(node) {
  for (let part = node, { parent } = node; parent; part = parent, { parent } = parent) {
    if (parent.type === "CallExpression" && parent.callee !== part) return STRUCTURAL.has(calledName(parent));
    if (/Function/.test(parent.type) || /(Statement|Declaration)$/.test(parent.type)) return false;
  }
  return false;
}

/**
 * Forbids `toMatchObject({ message: /403/ })`, which passes for every message: a RegExp has no own members to compare.
 * Use `expect.stringMatching(/403/)`.
 */
const noPatternInMatcher = {
  meta: { type: "problem" },
  create(context) {
    const check = (node) => {
      if (!isExpected(node)) return;
      const message = "A RegExp in a structural matcher compares nothing. Use expect.stringMatching(…).";
      context.report({ node, message });
    };
    return {
      Literal: (node) => node.regex && check(node),
      NewExpression: (node) => node.callee.name === "RegExp" && check(node),
    };
  },
};

/** Vitest's waits, by their object. */
const WALL_CLOCK_WAITS = { expect: ["poll"], vi: ["waitFor", "waitUntil"] };

/**
 * Forbids `expect.poll`, `vi.waitFor` and `vi.waitUntil`: their limits are in wall-clock time, so they fail on a busy
 * machine although nothing is wrong. Use test/support/eventually.ts.
 */
const noWallClockWait = {
  meta: { type: "problem" },
  create: (context) => ({
    MemberExpression(node) {
      const { object, property } = node;
      const name = property.type === "Literal" ? property.value : property.name;
      if (object.type !== "Identifier" || !WALL_CLOCK_WAITS[object.name]?.includes(name)) return;
      const message = `${object.name}.${name} has a limit in wall-clock time. Use test/support/eventually.ts.`;
      context.report({ node, message });
    },
  }),
};

const rules = { "no-pattern-in-matcher": noPatternInMatcher, "no-wall-clock-wait": noWallClockWait };
export default { meta: { name: "bobbin" }, rules };
