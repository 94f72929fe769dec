// Lists the mutants of a TypeScript file: small changes of its code, each of which a test should notice.
import { createHash } from "node:crypto";
import { parseSync } from "vite";
import { visit } from "./syntax.mjs";

/** Comparison and logical operators, and what each becomes. */
const OPERATORS = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/** Array methods, and what each becomes. Names of inherited methods, such as `toString`, are not among them. */
const METHODS = { __proto__: null, some: "every", every: "some", filter: "slice" };

/**
 * Returns every mutant of a file, in the order of the code. `text` takes the place of the characters from `start` to
 * `end`. `id` is made from the file, the line's code and the change: it stays the same when lines above it move.
 */
export function mutantsOf(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const found = [];
  const seen = new Map();
  const change = (node, text) => {
    const before = source.slice(node.start, node.end);
    const line = source.slice(0, node.start).split("\n").length;
    const around = source.slice(source.lastIndexOf("\n", node.start) + 1, endOfLine(source, node.end)).trim();
    const key = [file, around, before, text].join("\n");
    const nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    const id = createHash("sha256").update(`${key}\n${nth}`).digest("hex").slice(0, 10);
    found.push({ id, file, line, start: node.start, end: node.end, before, text });
  };
  visit(program, (node, parent) => mutate(node, parent, source, change));
  return found;
}

/** Returns the source of a file with one mutant in it. */
export function withMutant(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

function mutate(node, parent, source, change) {
  const text = (part) => source.slice(part.start, part.end);
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      // A comparison is turned around where it stands.
      if (node.test.type !== "BinaryExpression") change(node.test, `!(${text(node.test)})`);
      return;
    case "BinaryExpression":
    case "LogicalExpression": {
      const becomes = OPERATORS[node.operator];
      if (becomes === undefined || joinsText(node)) return;
      change(node, `${text(node.left)} ${becomes} ${text(node.right)}`);
      return;
    }
    case "Literal":
      if (typeof node.value === "boolean" && parent?.type !== "TSLiteralType")
        change(node, String(!node.value));
      return;
    case "ExpressionStatement":
      if (removable(node.expression)) change(node, ";");
      return;
    case "CallExpression": {
      const becomes = METHODS[node.callee.property?.name];
      if (node.callee.type === "MemberExpression" && becomes !== undefined && !node.callee.computed)
        change(node.callee.property, becomes);
      return;
    }
    case "ReturnStatement":
      // Those who await the result do not notice that it is no promise.
      if (node.argument !== null && isSettled(node.argument)) return;
      if (node.argument?.type === "CallExpression" || node.argument?.type === "ObjectExpression")
        change(node.argument, "undefined");
      return;
    case "SpreadElement":
      if (parent?.type === "ObjectExpression") change(node, "...{}");
      return;
  }
}

/** Whether an expression is `Promise.resolve()`, a promise of nothing that has settled already. */
function isSettled({ type, callee, arguments: given }) {
  if (type !== "CallExpression" || given.length > 0 || callee.type !== "MemberExpression") return false;
  return callee.object.name === "Promise" && callee.property.name === "resolve";
}

/** A sum with a text in it joins texts: a minus there is noise. */
function joinsText(node) {
  if (node.operator !== "+" && node.operator !== "-") return false;
  return [node.left, node.right].some(
    (side) => side.type === "TemplateLiteral" || (side.type === "Literal" && typeof side.value === "string"),
  );
}

/** Statements whose absence a test should notice. Log lines are not among them. */
function removable(expression) {
  const call = expression.type === "AwaitExpression" ? expression.argument : expression;
  if (call.type === "AssignmentExpression" || call.type === "UpdateExpression") return true;
  if (call.type !== "CallExpression" || call.callee.type === "Super") return false;
  const { callee } = call;
  const owner = callee.type === "MemberExpression" ? callee.object : undefined;
  return owner?.name !== "log" && owner?.property?.name !== "log";
}

function endOfLine(source, from) {
  const at = source.indexOf("\n", from);
  return at < 0 ? source.length : at;
}
